import { parseImageReference } from './imageReference.ts';

/**
 * Returns Always for `:latest` or no tag, and IfNotPresent otherwise (C17). A digest is treated like a tag. An invalid
 * reference gets IfNotPresent (`SetDefaults_Container` in `pkg/apis/core/v1/defaults.go`).
 */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  const reference = parseImageReference(image);
  if ('refusal' in reference) return 'IfNotPresent';
  const { tag, digest } = reference;
  return tag === 'latest' || (tag === undefined && digest === undefined) ? 'Always' : 'IfNotPresent';
}
