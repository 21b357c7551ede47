import * as z from 'zod/mini';
import { fields, type KubeletFields } from './kubeletFields.ts';
import { rules } from './rules.ts';

/** A KubeletConfiguration `kubelet.config.k8s.io/v1beta1` as of Kubernetes 1.36, with durations parsed into milliseconds. */
export const kubeletConfiguration = () =>
  fields().check(
    ...rules.map(({ at, message, holds }) => z.refine<KubeletFields>(holds, { error: message, path: [at] })),
  );

export type KubeletConfiguration = z.output<ReturnType<typeof kubeletConfiguration>>;

/** Returns the names of all top-level fields. */
export const fieldNames = (): readonly string[] => Object.keys(fields().shape);
