/**
 * Fields of features that are disabled by default in kube-apiserver 1.36. It drops them from new and changed pods,
 * unless the pod had them before (`dropDisabledFields` in `pkg/api/pod/util.go`, the defaults in
 * `pkg/features/kube_features.go`).
 */
import { lookUp } from '../../../../../base/values/lookUp.ts';
import { isObject, type Json, type JsonObject, objectAt } from '../../../json.ts';
import { objectsAt, specOf, withFields } from '../parts.ts';

/** Feature gates of pod fields that are disabled by default. */
export type DisabledFeature =
  | 'ClusterTrustBundleProjection'
  | 'ContainerStopSignals'
  | 'GenericWorkload'
  | 'PodCertificateRequest';

interface GatedField {
  readonly feature: DisabledFeature;
  readonly isIn: (spec: JsonObject) => boolean;
  readonly without: (spec: JsonObject) => JsonObject;
}

const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

const sourcesIn = (spec: JsonObject): readonly JsonObject[] =>
  objectsAt(spec, 'volumes').flatMap((volume) => objectsAt(objectAt(volume, 'projected'), 'sources'));

/** A gated source of projected volumes. */
const projection = (feature: DisabledFeature, name: string): GatedField => ({
  feature,
  isIn: (spec) => sourcesIn(spec).some((source) => lookUp(source, name) !== undefined),
  without: (spec) =>
    withEach(spec, 'volumes', (volume) => {
      const projected = lookUp(volume, 'projected');
      if (!isObject(projected)) return volume;
      const sources = withEach(projected, 'sources', (source) => withFields(source, { [name]: undefined }));
      return withFields(volume, { projected: sources });
    }),
});

const stopSignalOf = (container: JsonObject): Json | undefined =>
  lookUp(objectAt(container, 'lifecycle'), 'stopSignal');

function withoutStopSignal(container: JsonObject): JsonObject {
  if (stopSignalOf(container) === undefined) return container;
  const lifecycle = withFields(objectAt(container, 'lifecycle'), { stopSignal: undefined });
  return withFields(container, { lifecycle: Object.keys(lifecycle).length === 0 ? undefined : lifecycle });
}

const GATED: readonly GatedField[] = [
  projection('ClusterTrustBundleProjection', 'clusterTrustBundle'),
  projection('PodCertificateRequest', 'podCertificate'),
  {
    feature: 'GenericWorkload',
    isIn: (spec) => lookUp(spec, 'schedulingGroup') !== undefined,
    without: (spec) => withFields(spec, { schedulingGroup: undefined }),
  },
  {
    feature: 'ContainerStopSignals',
    isIn: (spec) =>
      CONTAINER_LISTS.some((list) => objectsAt(spec, list).some((each) => stopSignalOf(each) !== undefined)),
    without: (spec) => CONTAINER_LISTS.reduce((read, list) => withEach(read, list, withoutStopSignal), spec),
  },
];

/** Returns the object with each object in one of its lists changed. */
function withEach(object: JsonObject, name: string, change: (each: JsonObject) => JsonObject): JsonObject {
  const list = lookUp(object, name);
  if (!Array.isArray(list)) return object;
  return withFields(object, { [name]: list.map((each: Json) => (isObject(each) ? change(each) : each)) });
}

/** Returns the pod without the fields of disabled features. `before` is the previous pod, if any. */
export function withoutDisabledFields(
  pod: JsonObject,
  before: JsonObject | undefined,
  enabled: ReadonlySet<string>,
): JsonObject {
  const [spec, had] = [specOf(pod), specOf(before ?? {})];
  const dropped = GATED.filter(({ feature, isIn }) => !enabled.has(feature) && isIn(spec) && !isIn(had));
  if (dropped.length === 0) return pod;
  return { ...pod, spec: dropped.reduce((read, { without }) => without(read), spec) };
}
