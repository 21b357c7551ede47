/** The metric families of `ServiceAction`. */
import type { ServiceAction } from '../../../actors/serviceAction.ts';
import { USUAL } from '../buckets.ts';
import { alpha, type Registry } from '../registry.ts';

/** Creates the listener for service actions. */
export function serviceActionMetrics(registry: Registry): (action: ServiceAction) => void {
  const { opened, failed, latency } = eventStreamFamilies(registry);
  const { checks, records, intents } = pullRecordFamilies(registry);
  return (counted) => {
    switch (counted.action) {
      case 'eventStreamOpened':
        return opened.add([]);
      case 'eventStreamFailed':
        return failed.add([]);
      case 'runtimeEventReceived':
        return latency.observe([], counted.latencyMs / 1_000);
      case 'pullChecked':
        return checks.add([counted.result]);
      case 'pullRecordsChanged':
        records.set([], counted.records);
        intents.set([], counted.intents);
    }
  };
}

/** Creates the families of `pkg/kubelet/pleg/evented.go`. A kubelet has values only with the feature gate EventedPLEG. */
function eventStreamFamilies({ counter, histogram }: Registry) {
  const of = (name: string, help: string) => alpha(`kubelet_evented_pleg_connection_${name}`, help);
  return {
    opened: counter(of('success_count', 'Event streams of the container runtime that were opened.')),
    failed: counter(of('error_count', 'Event streams of the container runtime that could not be opened, or broke.')),
    latency: histogram(
      of('latency_seconds', 'Time from the creation of an event by the container runtime until it was received.'),
      USUAL,
    ),
  };
}

/** Creates the families of `pkg/kubelet/images/pullmanager/metrics.go`. */
function pullRecordFamilies({ counter, gauge }: Registry) {
  const of = (name: string, help: string, labels?: readonly string[]) =>
    alpha(`kubelet_imagemanager_${name}`, help, labels);
  return {
    checks: counter(
      of('image_mustpull_checks_total', 'Checks whether a pod has to prove its right to an image, by outcome.', [
        'result',
      ]),
    ),
    records: gauge(of('ondisk_pulledrecords', 'Records of pulled images on disk.')),
    intents: gauge(of('ondisk_pullintents', 'Records of pulls in progress on disk.')),
  };
}
