import { NodeFailure } from '../base/failure.ts';
import type { SecurityProfile as Wanted } from '../kubernetes/api/schema/security.ts';
import { SecurityProfile_ProfileType as ProfileType, type SecurityProfile } from './generated/runtime.ts';
import type { NodeDescription } from './nodeDescription.ts';

export const RUNTIME_DEFAULT: SecurityProfile = { profileType: ProfileType.RuntimeDefault, localhostRef: '' };
const UNCONFINED: SecurityProfile = { profileType: ProfileType.Unconfined, localhostRef: '' };

/** A seccomp profile; without one, what the node gives by default. Files of the host lie in `<root>/seccomp`. */
export function seccompProfile(wanted: Wanted | undefined, node: NodeDescription): SecurityProfile {
  if (wanted === undefined) return node.seccompDefault ? RUNTIME_DEFAULT : UNCONFINED;
  return profile(wanted, (name) => `${node.rootDir}/seccomp/${name}`, 'seccompProfile');
}

/** An AppArmor profile by the name that it is loaded under; without one the runtime decides. */
export function apparmorProfile(wanted: Wanted | undefined): SecurityProfile | undefined {
  return wanted && profile(wanted, (name) => name, 'appArmorProfile');
}

/** The same in the field that runtimes had before there was a message for it. */
export function apparmorName({ profileType, localhostRef }: SecurityProfile): string {
  if (profileType === ProfileType.Localhost) return `localhost/${localhostRef}`;
  return profileType === ProfileType.Unconfined ? 'unconfined' : 'runtime/default';
}

function profile(wanted: Wanted, refOf: (name: string) => string, field: string): SecurityProfile {
  if (wanted.type === 'RuntimeDefault') return RUNTIME_DEFAULT;
  if (wanted.type === 'Unconfined') return UNCONFINED;
  const name = wanted.localhostProfile;
  if (!name || name.startsWith('/') || name.split('/').includes('..')) {
    const message = `${field}: type Localhost needs a localhostProfile: a name, or a path without ".."`;
    throw new NodeFailure('CreateContainerConfigError', message);
  }
  return { profileType: ProfileType.Localhost, localhostRef: refOf(name) };
}
