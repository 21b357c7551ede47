import * as z from 'zod/mini';
import { lookUp } from '../../base/values/lookUp.ts';
import { parseJson } from '../../base/values/parseJson.ts';
import type { CallOptions, Cri } from '../client/calls.ts';

const configShape = z.object({
  sandboxImage: z.optional(z.string()),
  containerd: z.optional(z.object({ snapshotter: z.optional(z.string()) })),
});

/**
 * Reads containerd's configuration from the verbose information in the runtime's status. containerd 2 does not report
 * all fields, so each of them may be undefined.
 */
export async function runtimeConfig(
  cri: Pick<Cri, 'status'>,
  options: CallOptions,
): Promise<z.infer<typeof configShape>> {
  const { info } = await cri.status({ verbose: true }, options);
  const result = z.safeParse(configShape, parseJson(lookUp(info, 'config') ?? ''));
  return result.success ? result.data : {};
}
