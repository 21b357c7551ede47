/**
 * The declared features of Kubernetes that this node supports, sorted. An API server sends pods that need another feature
 * only to other nodes. The resize of init containers that end is missing.
 */
export const DECLARED_FEATURES: readonly string[] = [
  'ExtendWebSocketsToKubelet',
  'InPlacePodLevelResourcesVerticalScaling',
  'RestartAllContainersOnContainerExits',
];
