/**
 * What of Kubernetes' declared features works here, sorted: an API server admits what needs another only elsewhere. Not
 * among them: ExtendWebSocketsToKubelet, and the resize of init containers that end.
 */
export const DECLARED_FEATURES: readonly string[] = [
  'InPlacePodLevelResourcesVerticalScaling',
  'RestartAllContainersOnContainerExits',
];
