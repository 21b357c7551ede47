/** Always for `:latest` or no tag, else IfNotPresent (C17); a digest counts as a tag. */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  if (image.includes('@')) return 'IfNotPresent';
  // A colon before the last slash is that of a registry's port.
  const [, tag = 'latest'] = image.slice(image.lastIndexOf('/') + 1).split(':');
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}
