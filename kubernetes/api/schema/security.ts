import * as z from 'zod/mini';
import { enumStringSchema } from './scalars.ts';

const seLinuxOptionsSchema = z.strictObject({
  user: z.exactOptional(z.string()),
  role: z.exactOptional(z.string()),
  type: z.exactOptional(z.string()),
  level: z.exactOptional(z.string()),
});

const windowsOptionsSchema = z.strictObject({
  gmsaCredentialSpecName: z.exactOptional(z.string()),
  gmsaCredentialSpec: z.exactOptional(z.string()),
  runAsUserName: z.exactOptional(z.string()),
  hostProcess: z.exactOptional(z.boolean()),
});

const profileSchema = z.strictObject({
  type: enumStringSchema<'Unconfined' | 'RuntimeDefault' | 'Localhost'>(),
  localhostProfile: z.exactOptional(z.string()),
});

/** A seccomp or AppArmor profile. */
export type SecurityProfile = z.infer<typeof profileSchema>;

/** Schema of a container's security settings. */
export const securityContextSchema = z.strictObject({
  capabilities: z.exactOptional(
    z.strictObject({ add: z.exactOptional(z.array(z.string())), drop: z.exactOptional(z.array(z.string())) }),
  ),
  privileged: z.exactOptional(z.boolean()),
  seLinuxOptions: z.exactOptional(seLinuxOptionsSchema),
  windowsOptions: z.exactOptional(windowsOptionsSchema),
  runAsUser: z.exactOptional(z.int()),
  runAsGroup: z.exactOptional(z.int()),
  runAsNonRoot: z.exactOptional(z.boolean()),
  readOnlyRootFilesystem: z.exactOptional(z.boolean()),
  allowPrivilegeEscalation: z.exactOptional(z.boolean()),
  procMount: z.exactOptional(enumStringSchema<'Default' | 'Unmasked'>()),
  seccompProfile: z.exactOptional(profileSchema),
  appArmorProfile: z.exactOptional(profileSchema),
});

export type SecurityContext = z.infer<typeof securityContextSchema>;

/** Schema of the pod-level security settings, some of which are defaults for all containers. */
export const podSecurityContextSchema = z.strictObject({
  seLinuxOptions: z.exactOptional(seLinuxOptionsSchema),
  windowsOptions: z.exactOptional(windowsOptionsSchema),
  runAsUser: z.exactOptional(z.int()),
  runAsGroup: z.exactOptional(z.int()),
  runAsNonRoot: z.exactOptional(z.boolean()),
  supplementalGroups: z.exactOptional(z.array(z.int())),
  supplementalGroupsPolicy: z.exactOptional(enumStringSchema<'Merge' | 'Strict'>()),
  fsGroup: z.exactOptional(z.int()),
  sysctls: z.exactOptional(z.array(z.strictObject({ name: z.string(), value: z.string() }))),
  fsGroupChangePolicy: z.exactOptional(enumStringSchema<'Always' | 'OnRootMismatch'>()),
  seccompProfile: z.exactOptional(profileSchema),
  appArmorProfile: z.exactOptional(profileSchema),
  seLinuxChangePolicy: z.exactOptional(enumStringSchema<'MountOption' | 'Recursive'>()),
});

export type PodSecurityContext = z.infer<typeof podSecurityContextSchema>;
