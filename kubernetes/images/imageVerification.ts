/**
 * Determines for which images on the node a pod must prove its access (`imagePullCredentialsVerificationPolicy`).
 */

export const VERIFICATION_POLICIES = [
  'NeverVerify',
  'NeverVerifyPreloadedImages',
  'NeverVerifyAllowlistedImages',
  'AlwaysVerify',
] as const;

export interface ImageVerification {
  readonly policy: (typeof VERIFICATION_POLICIES)[number];
  /**
   * Names of images that require no proof of access. The names have no tag or digest. An entry that ends in `/*`
   * matches by prefix.
   */
  readonly allowlist: readonly string[];
}

export const defaultVerification: ImageVerification = { policy: 'NeverVerifyPreloadedImages', allowlist: [] };

/**
 * Whether a pod must prove its access to an image. `isPulledByNode` is true if the node has pulled the image or is
 * about to pull it. All other images were preloaded.
 */
export function needsProof(image: string, isPulledByNode: boolean, { policy, allowlist }: ImageVerification): boolean {
  if (policy === 'NeverVerify') return false;
  if (policy === 'NeverVerifyPreloadedImages') return isPulledByNode;
  if (policy === 'AlwaysVerify') return true;
  const name = withoutTagAndDigest(image);
  return !allowlist.some((each) => (each.endsWith('/*') ? name.startsWith(each.slice(0, -1)) : name === each));
}

/** Returns an image name from a spec, without its tag and digest. */
export function withoutTagAndDigest(image: string): string {
  const [name = ''] = image.split('@', 1);
  const slashIndex = name.lastIndexOf('/');
  const colonIndex = name.indexOf(':', slashIndex + 1);
  return colonIndex < 0 ? name : name.slice(0, colonIndex);
}

/** Explains why an allowlist entry is invalid. Returns undefined if it is valid. */
export function allowlistRefusal(entry: string): string | undefined {
  if (entry !== entry.trim()) return 'must not begin or end with spaces';
  const isWildcard = entry.endsWith('/*');
  const name = isWildcard ? entry.slice(0, -1) : entry;
  if (name.includes('*')) return 'may have an asterisk only at its end, after a slash';
  if (name === '' || name === '/') return 'must name at least a registry';
  if (!isWildcard && withoutTagAndDigest(name) !== name) return 'must have neither tag nor digest';
  return undefined;
}
