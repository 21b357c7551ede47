import { containersOf } from '../containers.ts';
import type { Problem } from '../problem.ts';
import type { Container } from '../schema/container.ts';
import type { PodSpec } from '../schema/pod.ts';
import type { Volume } from '../schema/volume.ts';
import { forbidden } from './words.ts';

/** Volume sources that live in the API server. */
const API_SOURCES = ['secret', 'configMap', 'persistentVolumeClaim', 'ephemeral'] as const;
const API_PROJECTIONS = ['secret', 'configMap', 'serviceAccountToken', 'clusterTrustBundle', 'podCertificate'] as const;
const API_KEYS = ['secretKeyRef', 'configMapKeyRef'] as const;

/**
 * A static pod has no API server behind it, so it may not need anything that lives there; what is optional it goes
 * without.
 */
export function validateStatic(spec: PodSpec): Problem[] {
  const refused = (path: string, what: string) =>
    forbidden(path, `a static pod may not refer to ${what}: there is no API server that it comes from`);
  return [
    ...(spec.serviceAccountName ? [refused('spec.serviceAccountName', 'a service account')] : []),
    ...(spec.ephemeralContainers?.length
      ? [forbidden('spec.ephemeralContainers', 'a static pod may not have ephemeral containers')]
      : []),
    ...(spec.resourceClaims?.length ? [refused('spec.resourceClaims', 'resource claims')] : []),
    ...(spec.volumes ?? []).flatMap((volume, index) =>
      volumeReferences(volume).map((source) => refused(`spec.volumes[${index}].${source}`, 'API objects')),
    ),
    ...containersOf(spec).flatMap(({ container, field, index }) =>
      envReferences(container).map((path) => refused(`spec.${field}[${index}].${path}`, 'API objects')),
    ),
  ];
}

const isNeeded = (reference: object | undefined): boolean =>
  reference !== undefined && !('optional' in reference && reference.optional === true);

function volumeReferences(volume: Volume): string[] {
  const own = API_SOURCES.filter((source) => isNeeded(volume[source]));
  const projected = (volume.projected?.sources ?? []).flatMap((projection, index) =>
    API_PROJECTIONS.filter((source) => isNeeded(projection[source])).map(
      (source) => `projected.sources[${index}].${source}`,
    ),
  );
  return [...own, ...projected];
}

function envReferences({ env = [], envFrom = [] }: Container): string[] {
  return [
    ...env.flatMap(({ valueFrom }, index) =>
      API_KEYS.filter((source) => isNeeded(valueFrom?.[source])).map((source) => `env[${index}].valueFrom.${source}`),
    ),
    ...envFrom.flatMap((from, index) =>
      (['secretRef', 'configMapRef'] as const)
        .filter((source) => isNeeded(from[source]))
        .map((source) => `envFrom[${index}].${source}`),
    ),
  ];
}
