/** Counts requests to the pod-resources API (`pkg/kubelet/apis/podresources/server_v1.go`). */
import type { PodResourcesListener } from '../../podResources/server.ts';
import { alpha, type Registry } from '../registry.ts';

/**
 * Creates the listener for requests. As in the kubelet, only v1 requests are counted by method, and failures are
 * counted only for Get.
 */
export function registerPodResourcesMetrics(registry: Registry): PodResourcesListener {
  const createCounter = (name: string, help: string) =>
    registry.counter(alpha(`kubelet_pod_resources_endpoint_${name}`, help, ['server_api_version']));
  const requestsCounter = createCounter('requests_total', 'Requests to the pod-resources API.');
  const countersByMethod = {
    list: createCounter('requests_list', 'Requests to the pod-resources API for all pods.'),
    get: createCounter('requests_get', 'Requests to the pod-resources API for one pod.'),
    get_allocatable: createCounter(
      'requests_get_allocatable',
      'Requests to the pod-resources API for the resources of the node.',
    ),
  };
  const errors = createCounter('errors_get', 'Requests to the pod-resources API for one pod that failed.');
  return (version, method) => {
    requestsCounter.add([version]);
    if (version === 'v1') countersByMethod[method].add([version]);
    return () => {
      if (method === 'get') errors.add([version]);
    };
  };
}
