import { NodeFailure } from '../../base/failure.ts';
import type { SecurityProfile as ApiProfile } from '../../kubernetes/api/schema/security.ts';
import { SecurityProfile_ProfileType as ProfileType, type SecurityProfile } from '../generated/runtime.ts';
import type { NodeDescription } from '../nodeDescription.ts';

export const RUNTIME_DEFAULT_PROFILE: SecurityProfile = { profileType: ProfileType.RuntimeDefault, localhostRef: '' };
const UNCONFINED_PROFILE: SecurityProfile = { profileType: ProfileType.Unconfined, localhostRef: '' };

/** Returns the seccomp profile, which defaults to the node's. Localhost profiles are files in `<root>/seccomp`. */
export function seccompProfile(profile: ApiProfile | undefined, node: NodeDescription): SecurityProfile {
  if (profile === undefined) return node.seccompDefault ? RUNTIME_DEFAULT_PROFILE : UNCONFINED_PROFILE;
  return toSecurityProfile(profile, (name) => `${node.rootDir}/seccomp/${name}`, 'seccompProfile');
}

/**
 * Returns the AppArmor profile, or undefined if the runtime chooses it. A Localhost profile is the name under which the
 * profile is loaded in the kernel.
 */
export function apparmorProfile(profile: ApiProfile | undefined): SecurityProfile | undefined {
  return profile && toSecurityProfile(profile, (name) => name, 'appArmorProfile');
}

/** Returns the AppArmor profile in the format of the deprecated string field. */
export function apparmorProfileName({ profileType, localhostRef }: SecurityProfile): string {
  if (profileType === ProfileType.Localhost) return `localhost/${localhostRef}`;
  return profileType === ProfileType.Unconfined ? 'unconfined' : 'runtime/default';
}

function toSecurityProfile(profile: ApiProfile, refOf: (name: string) => string, field: string): SecurityProfile {
  if (profile.type === 'RuntimeDefault') return RUNTIME_DEFAULT_PROFILE;
  if (profile.type === 'Unconfined') return UNCONFINED_PROFILE;
  const name = profile.localhostProfile;
  if (!name || name.startsWith('/') || name.split('/').includes('..')) {
    const message = `${field}: type Localhost needs a localhostProfile: a name, or a path without ".."`;
    throw new NodeFailure('CreateContainerConfigError', message);
  }
  return { profileType: ProfileType.Localhost, localhostRef: refOf(name) };
}
