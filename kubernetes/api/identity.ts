/** The hash of a container's name and image, in hex: only a change of these makes it another container (C6). */
export function containerHash(container: { readonly name: string; readonly image: string }): string {
  // The kubelet hashes a dump of these bytes: with the same figure, a container of its making can be adopted.
  const { image, name } = container;
  const bytes = new TextEncoder().encode(JSON.stringify({ image, name }));
  return fnv1a(`([]uint8)[${bytes.join(' ')}]`).toString(16);
}

/** FNV-1a of 32 bits over ASCII text. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
