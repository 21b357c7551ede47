import * as z from 'zod/mini';
import { oneOf, section } from './fields.ts';
import { eviction } from './parts/eviction.ts';
import { images } from './parts/images.ts';
import { logs } from './parts/logs.ts';
import { network } from './parts/network.ts';
import { node } from './parts/node.ts';
import { resources } from './parts/resources.ts';
import { runtime } from './parts/runtime.ts';
import { serving } from './parts/serving.ts';
import { sources } from './parts/sources.ts';

const fields = section({
  apiVersion: oneOf('kubelet.config.k8s.io/v1beta1'),
  kind: oneOf('KubeletConfiguration'),
  ...sources,
  ...serving,
  ...images,
  ...runtime,
  ...network,
  ...resources,
  ...eviction,
  ...node,
  ...logs,
});

type Fields = z.output<typeof fields>;

/** A rule over several fields that the kubelet enforces too; the mistake is reported at `at`. */
function rule(at: keyof Fields, message: string, holds: (config: Fields) => boolean) {
  return z.refine<Fields>(holds, { error: message, path: [at] });
}

/** A KubeletConfiguration `kubelet.config.k8s.io/v1beta1` as of Kubernetes 1.36; durations are read into milliseconds. */
export const kubeletConfiguration = fields.check(
  rule('maxParallelImagePulls', 'must be 1 unless serializeImagePulls is false', (config) => {
    return config.serializeImagePulls === false || (config.maxParallelImagePulls ?? 1) === 1;
  }),
  rule('imageGCLowThresholdPercent', 'must be less than imageGCHighThresholdPercent', (config) => {
    return (config.imageGCLowThresholdPercent ?? 80) < (config.imageGCHighThresholdPercent ?? 85);
  }),
  rule('shutdownGracePeriodCriticalPods', 'must not be longer than shutdownGracePeriod', (config) => {
    return (config.shutdownGracePeriodCriticalPods ?? 0) <= (config.shutdownGracePeriod ?? 0);
  }),
  rule('enforceNodeAllocatable', 'needs cgroupsPerQOS', (config) => {
    return config.cgroupsPerQOS !== false || (config.enforceNodeAllocatable ?? []).every((each) => each === 'none');
  }),
  rule('userNamespaces', 'idsPerPod must be a multiple of 65536', (config) => {
    return (config.userNamespaces?.idsPerPod ?? 0) % 65_536 === 0;
  }),
  rule('systemCgroups', 'needs cgroupRoot', (config) => !config.systemCgroups || Boolean(config.cgroupRoot)),
);

export type KubeletConfiguration = z.output<typeof kubeletConfiguration>;

/** All fields that there are. */
export const fieldNames: readonly string[] = Object.keys(fields.shape);
