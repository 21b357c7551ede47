/** The strategies by group version and resource. */
import { groupVersion } from '../../resources/resource.ts';
import type { Target } from '../../resources/target.ts';
import { plainStrategy, type Strategy } from '../strategy.ts';
import {
  csiNodeStrategy,
  disruptionBudgetStrategy,
  leaseStrategy,
  plainStatusStrategy,
  priorityClassStrategy,
  runtimeClassStrategy,
  serviceAccountStrategy,
} from './clusterKinds.ts';
import { configMapStrategy, secretStrategy } from './configMaps.ts';
import { eventStrategy, newEventStrategy } from './events.ts';
import { namespaceFinalizeStrategy, namespaceStatusStrategy, namespaceStrategy } from './namespaces.ts';
import { nodeStatusStrategy, nodeStrategy } from './nodes.ts';
import { ephemeralContainersStrategy } from './pods/ephemeralContainers.ts';
import { podStrategy } from './pods/pods.ts';
import { resizeStrategy } from './pods/resize.ts';
import { podStatusStrategy } from './pods/status.ts';
import { resourceClaimStrategy, resourceSliceStrategy } from './resources.ts';
import { serviceStatusStrategy, serviceStrategy } from './services.ts';
import {
  signingRequestApprovalStrategy,
  signingRequestStatusStrategy,
  signingRequestStrategy,
} from './signingRequests.ts';
import { claimStrategy, volumeStrategy } from './volumes.ts';

const STRATEGIES: ReadonlyMap<string, Strategy> = new Map([
  ['v1/configmaps', configMapStrategy],
  ['v1/events', eventStrategy],
  ['v1/namespaces', namespaceStrategy],
  ['v1/namespaces/finalize', namespaceFinalizeStrategy],
  ['v1/namespaces/status', namespaceStatusStrategy],
  ['v1/nodes', nodeStrategy],
  ['v1/nodes/status', nodeStatusStrategy],
  ['v1/persistentvolumeclaims', claimStrategy],
  ['v1/persistentvolumes', volumeStrategy],
  ['v1/pods', podStrategy],
  ['v1/pods/ephemeralcontainers', ephemeralContainersStrategy],
  ['v1/pods/resize', resizeStrategy],
  ['v1/pods/status', podStatusStrategy],
  ['v1/secrets', secretStrategy],
  ['v1/serviceaccounts', serviceAccountStrategy],
  ['v1/services', serviceStrategy],
  ['v1/services/status', serviceStatusStrategy],
  ['certificates.k8s.io/v1/certificatesigningrequests', signingRequestStrategy],
  ['certificates.k8s.io/v1/certificatesigningrequests/approval', signingRequestApprovalStrategy],
  ['certificates.k8s.io/v1/certificatesigningrequests/status', signingRequestStatusStrategy],
  ['coordination.k8s.io/v1/leases', leaseStrategy],
  ['events.k8s.io/v1/events', newEventStrategy],
  ['node.k8s.io/v1/runtimeclasses', runtimeClassStrategy],
  ['policy/v1/poddisruptionbudgets', disruptionBudgetStrategy],
  ['resource.k8s.io/v1/resourceclaims', resourceClaimStrategy],
  ['resource.k8s.io/v1/resourceslices', resourceSliceStrategy],
  ['scheduling.k8s.io/v1/priorityclasses', priorityClassStrategy],
  ['storage.k8s.io/v1/csinodes', csiNodeStrategy],
]);

export function strategyOf({ resource, subresource }: Pick<Target, 'resource' | 'subresource'>): Strategy {
  const name = `${groupVersion(resource)}/${resource.name}`;
  const own = STRATEGIES.get(name) ?? plainStrategy;
  if (subresource === undefined) return own;
  const below = STRATEGIES.get(`${name}/${subresource.name}`);
  return below ?? (subresource.name === 'status' ? plainStatusStrategy : own);
}
