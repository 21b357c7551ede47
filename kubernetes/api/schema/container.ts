import * as z from 'zod/mini';
import { envFromSourceSchema, envVarSchema } from './env.ts';
import { lifecycleSchema, probeSchema } from './probe.ts';
import { enumStringSchema, pullPolicySchema, resourceListSchema } from './scalars.ts';
import { securityContextSchema } from './security.ts';

export type { EnvFromSource, EnvVar, EnvVarSource } from './env.ts';
export type { LifecycleHandler, Probe } from './probe.ts';

const containerPortSchema = z.strictObject({
  name: z.exactOptional(z.string()),
  hostPort: z.exactOptional(z.int32()),
  containerPort: z.int32(),
  protocol: z.exactOptional(enumStringSchema<'TCP' | 'UDP' | 'SCTP'>()),
  hostIP: z.exactOptional(z.string()),
});

export type ContainerPort = z.infer<typeof containerPortSchema>;

/** Parses the ports in a container's annotation. Returns an empty list if the annotation is malformed. */
export function readPorts(json: string): readonly ContainerPort[] {
  try {
    return z.array(containerPortSchema).parse(JSON.parse(json));
  } catch {
    return [];
  }
}

/** Schema of the resource requests, limits and claims of a container or pod. */
export const resourceRequirementsSchema = z.strictObject({
  limits: z.exactOptional(resourceListSchema),
  requests: z.exactOptional(resourceListSchema),
  claims: z.exactOptional(z.array(z.strictObject({ name: z.string(), request: z.exactOptional(z.string()) }))),
});

export type ResourceRequirements = z.infer<typeof resourceRequirementsSchema>;

const resizePolicySchema = z.strictObject({
  resourceName: z.string(),
  restartPolicy: enumStringSchema<'NotRequired' | 'RestartContainer'>(),
});

const restartRuleSchema = z.strictObject({
  action: enumStringSchema<'Restart' | 'RestartAllContainers'>(),
  exitCodes: z.exactOptional(
    z.strictObject({ operator: enumStringSchema<'In' | 'NotIn'>(), values: z.exactOptional(z.array(z.int32())) }),
  ),
});

const volumeMountSchema = z.strictObject({
  name: z.string(),
  readOnly: z.exactOptional(z.boolean()),
  recursiveReadOnly: z.exactOptional(enumStringSchema<'Disabled' | 'IfPossible' | 'Enabled'>()),
  mountPath: z.string(),
  subPath: z.exactOptional(z.string()),
  mountPropagation: z.exactOptional(enumStringSchema<'None' | 'HostToContainer' | 'Bidirectional'>()),
  subPathExpr: z.exactOptional(z.string()),
});

export type VolumeMount = z.infer<typeof volumeMountSchema>;

/** Schema of an init, sidecar or regular container. */
export const containerSchema = z.strictObject({
  name: z.string(),
  image: z.string(),
  command: z.exactOptional(z.array(z.string())),
  args: z.exactOptional(z.array(z.string())),
  workingDir: z.exactOptional(z.string()),
  ports: z.exactOptional(z.array(containerPortSchema)),
  envFrom: z.exactOptional(z.array(envFromSourceSchema)),
  env: z.exactOptional(z.array(envVarSchema)),
  resources: z.exactOptional(resourceRequirementsSchema),
  resizePolicy: z.exactOptional(z.array(resizePolicySchema)),
  restartPolicy: z.exactOptional(enumStringSchema<'Always' | 'OnFailure' | 'Never'>()),
  restartPolicyRules: z.exactOptional(z.array(restartRuleSchema)),
  volumeMounts: z.exactOptional(z.array(volumeMountSchema)),
  volumeDevices: z.exactOptional(z.array(z.strictObject({ name: z.string(), devicePath: z.string() }))),
  livenessProbe: z.exactOptional(probeSchema),
  readinessProbe: z.exactOptional(probeSchema),
  startupProbe: z.exactOptional(probeSchema),
  lifecycle: z.exactOptional(lifecycleSchema),
  terminationMessagePath: z.exactOptional(z.string()),
  terminationMessagePolicy: z.exactOptional(enumStringSchema<'File' | 'FallbackToLogsOnError'>()),
  imagePullPolicy: z.exactOptional(pullPolicySchema),
  securityContext: z.exactOptional(securityContextSchema),
  stdin: z.exactOptional(z.boolean()),
  stdinOnce: z.exactOptional(z.boolean()),
  tty: z.exactOptional(z.boolean()),
});

export type Container = z.infer<typeof containerSchema>;

/**
 * Schema of a container that is added to a running pod. It can share the process namespace of `targetContainerName`.
 */
export const ephemeralContainerSchema = z.extend(containerSchema, {
  targetContainerName: z.exactOptional(z.string()),
});
