/** Which images that are on the node a pod has to prove its right to (`imagePullCredentialsVerificationPolicy`). */

export const VERIFICATIONS = [
  'NeverVerify',
  'NeverVerifyPreloadedImages',
  'NeverVerifyAllowlistedImages',
  'AlwaysVerify',
] as const;

export interface ImageVerification {
  readonly policy: (typeof VERIFICATIONS)[number];
  /** Images without tag or digest, or beginnings of them that end in a slash and an asterisk: these need no proof. */
  readonly allowlist: readonly string[];
}

export const defaultVerification: ImageVerification = { policy: 'NeverVerifyPreloadedImages', allowlist: [] };

/** `isOfNode`: the node itself has pulled the image, or is about to; others were there before. */
export function needsProof(image: string, isOfNode: boolean, { policy, allowlist }: ImageVerification): boolean {
  if (policy === 'NeverVerify') return false;
  if (policy === 'NeverVerifyPreloadedImages') return isOfNode;
  if (policy === 'AlwaysVerify') return true;
  const name = withoutTagAndDigest(image);
  return !allowlist.some((each) => (each.endsWith('/*') ? name.startsWith(each.slice(0, -1)) : name === each));
}

/** The name as the spec has it, without what says which version it is. */
export function withoutTagAndDigest(image: string): string {
  const [name = ''] = image.split('@', 1);
  const slash = name.lastIndexOf('/');
  const colon = name.indexOf(':', slash + 1);
  return colon < 0 ? name : name.slice(0, colon);
}

/** Why a kubelet refuses this entry of an allowlist; undefined where it does not. */
export function allowlistRefusal(entry: string): string | undefined {
  if (entry !== entry.trim()) return 'must not begin or end with spaces';
  const isWildcard = entry.endsWith('/*');
  const name = isWildcard ? entry.slice(0, -1) : entry;
  if (name.includes('*')) return 'may have an asterisk only at its end, after a slash';
  if (name === '' || name === '/') return 'must name at least a registry';
  if (!isWildcard && withoutTagAndDigest(name) !== name) return 'must have neither tag nor digest';
  return undefined;
}
