/** The recorded requests to which the test API server responds differently, with the reasons. */

const MANAGED_FIELDS =
  'who has written which field is not kept: the node drops managedFields, and nothing here applies';
const APPLY = 'server-side apply needs managedFields';
const OTHER_KINDS = 'resources of these groups are not served yet';
const ROLES = 'roles are not served: tests say themselves who may do what';
const STREAMS = 'what a kube-apiserver asks the node for: logs, and streams into containers';

/** The reasons for exceptions, by the ID of a vector or a prefix of IDs. */
export const exceptions: ReadonlyMap<string, string> = new Map([
  ['1.paths.10-', OTHER_KINDS],
  ['1.paths.32-', 'it lists all groups of Kubernetes'],
  ['2.pod-defaults.05-', MANAGED_FIELDS],
  ['2.configmap.04-', MANAGED_FIELDS],
  ['4.apply.05-', APPLY],
  ['4.apply.06-', APPLY],
  ['4.apply.11-', APPLY],
  ['4.apply.12-', APPLY],
  ['4.apply.13-', APPLY],
  ['4.apply.16-', APPLY],
  ['4.apply.18-', APPLY],
  ['6.ephemeral-resize.24-', `the write there is one of managedFields alone: ${MANAGED_FIELDS}`],
  ['6.ephemeral-resize.26-', `the write there is one of managedFields alone: ${MANAGED_FIELDS}`],
  ['6.node-connections.', STREAMS],
  ['7.reviews.21-', ROLES],
  ['10.too-many.04-', 'priority and fairness are not served: faults are scripted here'],
  ['10.too-many.05-', 'priority and fairness are not served: faults are scripted here'],
]);
