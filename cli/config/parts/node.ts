import * as z from 'zod/mini';
import { boolean, duration, list, oneOf, section, text, whole } from '../fields.ts';

const taint = section({
  key: text,
  value: z.optional(text),
  effect: oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
});

/** The Node object, how it is reported, and the client of the API server. */
export const node = {
  registerNode: z.optional(boolean),
  registerWithTaints: z.optional(list(taint)),
  providerID: z.optional(text),
  nodeStatusUpdateFrequency: z.optional(duration()),
  nodeStatusReportFrequency: z.optional(duration()),
  nodeStatusMaxImages: z.optional(whole(-1)),
  nodeLeaseDurationSeconds: z.optional(whole()),
  contentType: z.optional(text),
  kubeAPIQPS: z.optional(whole()),
  kubeAPIBurst: z.optional(whole()),
  eventRecordQPS: z.optional(whole()),
  eventBurst: z.optional(whole()),
  configMapAndSecretChangeDetectionStrategy: z.optional(oneOf('', 'Get', 'Cache', 'Watch')),
  enableControllerAttachDetach: z.optional(boolean),
  volumePluginDir: z.optional(text),
  volumeStatsAggPeriod: z.optional(duration()),
  showHiddenMetricsForVersion: z.optional(text),
  tracing: z.optional(section({ endpoint: z.optional(text), samplingRatePerMillion: z.optional(whole(0, 1_000_000)) })),
};
