/**
 * Returns the hash of a container's name and image as hex digits. A container is replaced after a change to the spec
 * only if its hash has changed (C6).
 */
export function containerHash(container: { readonly name: string; readonly image: string }): string {
  // Hash the same bytes as the kubelet, which hashes a Go dump, so that the agent can adopt containers that the kubelet
  // created.
  const { image, name } = container;
  const bytes = new TextEncoder().encode(JSON.stringify({ image, name }));
  return fnv1a(`([]uint8)[${bytes.join(' ')}]`).toString(16);
}

/** Returns the 32-bit FNV-1a hash of a string in which each character stands for one byte. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}
