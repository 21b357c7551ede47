/** Counts requests to the pod-resources API (`pkg/kubelet/apis/podresources/server_v1.go`). */
import type { PodResourcesListener } from '../../podResources/server.ts';
import { alpha, type Registry } from '../registry.ts';

/**
 * Creates the listener for requests. Like a kubelet, distinguishes methods only for v1 and counts failures only of Get.
 */
export function registerPodResourcesMetrics(registry: Registry): PodResourcesListener {
  const of = (name: string, help: string) =>
    registry.counter(alpha(`kubelet_pod_resources_endpoint_${name}`, help, ['server_api_version']));
  const requestsCounter = of('requests_total', 'Requests to the pod-resources API.');
  const countersByMethod = {
    list: of('requests_list', 'Requests to the pod-resources API for all pods.'),
    get: of('requests_get', 'Requests to the pod-resources API for one pod.'),
    get_allocatable: of('requests_get_allocatable', 'Requests to the pod-resources API for the resources of the node.'),
  };
  const errors = of('errors_get', 'Requests to the pod-resources API for one pod that failed.');
  return (version, method) => {
    requestsCounter.add([version]);
    if (version === 'v1') countersByMethod[method].add([version]);
    return () => {
      if (method === 'get') errors.add([version]);
    };
  };
}
