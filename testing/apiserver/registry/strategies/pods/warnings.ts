/** Warnings for clients that create a pod (`api/pod/warnings.go` of kubernetes). */
import { type JsonObject, objectAt, textAt } from '../../../json.ts';
import { objectsAt, specOf } from '../parts.ts';

/** Deprecated node labels. */
const DEPRECATED: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
]);

export function podWarnings(pod: JsonObject): string[] {
  const spec = specOf(pod);
  const labels = Object.keys(objectAt(spec, 'nodeSelector')).flatMap((label) => {
    const why = DEPRECATED.get(label);
    return why === undefined ? [] : [`spec.nodeSelector[${label}]: ${why}`];
  });
  const hidden = ['initContainers', 'containers'].flatMap((list) =>
    objectsAt(spec, list).flatMap((container, index) => hiddenVariables(container, `spec.${list}[${index}]`)),
  );
  return [...labels, ...hidden];
}

function hiddenVariables(container: JsonObject, path: string): string[] {
  const names = objectsAt(container, 'env').map((variable) => textAt(variable, 'name'));
  return names.flatMap((name, index) =>
    names.indexOf(name) < index
      ? [
          `${path}.env[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
        ]
      : [],
  );
}
