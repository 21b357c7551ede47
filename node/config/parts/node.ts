import * as z from 'zod/mini';
import { isLabel } from '../admissionFields.ts';
import { boolean, duration, list, oneOf, section, text, textLike, whole } from '../fields.ts';

const taint = section({
  key: textLike('the name of a taint such as "example.com/gpu"', (key) => key !== '' && isLabel(key, '')),
  value: z.optional(
    textLike('the value of a taint: letters, digits, "-", "_" and "."', (value) => isLabel('a', value)),
  ),
  effect: oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
});

const tracingEndpoint = textLike(
  'the address of a collector such as "localhost:4317" or "unix:///run/otel.sock"',
  (endpoint) => {
    const [scheme = ''] = endpoint.includes('//') ? endpoint.split(':') : ['dns'];
    return ['dns', 'unix', 'unix-abstract'].includes(scheme);
  },
);

/** The Node object, how it is reported, and the client of the API server. */
export const node = () => ({
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
  showHiddenMetricsForVersion: z.optional(
    textLike('a version such as "1.35"', (version) => /^(\d+\.\d+)?$/.test(version)),
  ),
  tracing: z.optional(
    section({ endpoint: z.optional(tracingEndpoint), samplingRatePerMillion: z.optional(whole(0, 1_000_000)) }),
  ),
});
