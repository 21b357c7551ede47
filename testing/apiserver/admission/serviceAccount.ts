/** Sets a pod's service account and mounts a token of it, unless disabled (`plugin/pkg/admission/serviceaccount`). */
import { lookUp } from '../../../base/values/lookUp.ts';
import { forbidden } from '../failures/failures.ts';
import { isList, isObject, type Json, type JsonObject, objectAt, textAt } from '../json.ts';
import { isMirrorPod } from '../registry/strategies/pods/mirrorPod.ts';
import { metadataOf } from '../store/metadata.ts';
import { isNewPod, type Plugin } from './plugin.ts';

const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';

export const serviceAccount: Plugin = (request) => {
  const { target, object, registry } = request;
  if (object === undefined || !isNewPod(request)) return undefined;
  const spec = objectAt(object, 'spec');
  if (isMirrorPod(object)) {
    const problem = mirrorProblem(spec);
    if (problem !== undefined) throw forbidden(target.resource, metadataOf(object).name ?? '', problem);
    return undefined;
  }
  const account = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount') || 'default';
  const found = registry.store.get('/serviceaccounts', target.namespace, account);
  if (found === undefined) throw missingAccount(request, account);
  const own = lookUp(spec, 'imagePullSecrets') ?? lookUp(found, 'imagePullSecrets');
  const named = {
    ...spec,
    serviceAccountName: account,
    serviceAccount: account,
    ...(own === undefined ? {} : { imagePullSecrets: own }),
  };
  const wants = lookUp(spec, 'automountServiceAccountToken') ?? lookUp(found, 'automountServiceAccountToken') ?? true;
  return { ...object, spec: wants === false ? named : withToken(named, `kube-api-access-${registry.ids.suffix()}`) };
};

function mirrorProblem(spec: JsonObject): string | undefined {
  if (textAt(spec, 'serviceAccountName') !== '') return 'a mirror pod may not reference service accounts';
  if (
    listAt(spec, 'imagePullSecrets').length > 0 ||
    /"(?:secret|secretRef|secretKeyRef)":\{/.test(JSON.stringify(spec))
  )
    return 'a mirror pod may not reference secrets';
  return JSON.stringify(spec).includes('"serviceAccountToken":{')
    ? 'a mirror pod may not use ServiceAccountToken volume projections'
    : undefined;
}

function missingAccount({ target, object = {} }: Parameters<Plugin>[0], account: string) {
  const { namespace = '' } = target;
  const why = `error looking up service account ${namespace}/${account}: serviceaccount ${JSON.stringify(account)} not found`;
  return forbidden(target.resource, metadataOf(object).name ?? '', why);
}

function withToken(spec: JsonObject, name: string): JsonObject {
  const mount = { name, readOnly: true, mountPath: MOUNT_PATH };
  const containers = (field: string): readonly (readonly [string, Json])[] => {
    const all = listAt(spec, field);
    return all.length === 0 ? [] : [[field, all.map((each) => withMount(each, mount))]];
  };
  const [init, main] = [containers('initContainers'), containers('containers')];
  const isMounted = JSON.stringify([...init, ...main]).includes(`"name":${JSON.stringify(name)}`);
  const volumes = listAt(spec, 'volumes');
  return {
    ...spec,
    ...Object.fromEntries([...init, ...main]),
    ...(isMounted ? { volumes: [...volumes, tokenVolume(name)] } : {}),
  };
}

const listAt = (object: JsonObject, name: string): readonly Json[] => {
  const value = lookUp(object, name);
  return isList(value) ? value : [];
};

function withMount(container: Json, mount: JsonObject): Json {
  if (!isObject(container)) return container;
  const mounts = listAt(container, 'volumeMounts');
  const isTaken = mounts.some((each) => isObject(each) && textAt(each, 'mountPath') === MOUNT_PATH);
  return isTaken ? container : { ...container, volumeMounts: [...mounts, mount] };
}

/** Lifetime of the token in seconds. The unusual value of one hour and 7 s marks the tokens of this volume. */
const EXPIRATION_SECONDS = 3607;

const tokenVolume = (name: string): JsonObject => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: EXPIRATION_SECONDS, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: 0o644,
  },
});
