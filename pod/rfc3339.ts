/** A moment (milliseconds since the epoch) as Kubernetes writes it: UTC, whole seconds (C14). */
export function rfc3339(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
