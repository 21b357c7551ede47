/** OpenAPI documents: of version 3 one for each group's version, of version 2 one for all. */
import { createHash } from 'node:crypto';
import { KUBERNETES_VERSION } from '../../../kubernetes/api/version.ts';
import type { JsonObject } from '../json.ts';
import { json, type PlainAnswer } from '../plainPaths.ts';
import { groupVersion } from '../resources/resource.ts';
import { resources } from '../resources/resources.ts';
import type { Types } from '../schema/types.ts';
import { definitions, kindsOf } from './definitions.ts';
import { protobufOf } from './protobuf.ts';

const INFO = { title: 'Kubernetes', version: `v${KUBERNETES_VERSION}.0` };
const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
/** As a kube-apiserver calls it in its answers: the other is no media type. */
const ANSWERED_PROTOBUF = PROTOBUF.replace('@', '.');
const ROOT = '/openapi/v3';

/** Undefined where the path is another. */
export function openApi(pathname: string, accept: string, types: Types): PlainAnswer | undefined {
  if (pathname === '/openapi/v2') return versionTwo(accept, types);
  if (pathname === ROOT || pathname === `${ROOT}/`)
    return { ...json({ paths: paths(types) }), contentType: 'text/plain; charset=utf-8' };
  if (!pathname.startsWith(`${ROOT}/`)) return undefined;
  const version = versions().get(pathname.slice(ROOT.length + 1));
  return version === undefined ? { code: 404, contentType: undefined, body: '' } : json(versionThree(version, types));
}

/** The versions of the groups, by the paths below which their resources are. */
const versions = (): ReadonlyMap<string, string> =>
  new Map(resources.map((each) => [`${each.group === '' ? 'api' : 'apis'}/${groupVersion(each)}`, groupVersion(each)]));

/** Each with a hash of what it says, so that clients need not read it again. */
function paths(types: Types): JsonObject {
  return Object.fromEntries(
    [...versions()].map(([path, version]) => {
      const hash = createHash('sha256')
        .update(JSON.stringify(versionThree(version, types)))
        .digest('hex');
      return [path, { serverRelativeURL: `${ROOT}/${path}?hash=${hash.toUpperCase()}` }];
    }),
  );
}

const versionThree = (version: string, types: Types): JsonObject => ({
  openapi: '3.0.0',
  info: INFO,
  paths: resourcePaths(version),
  components: {
    schemas: definitions(kindsOf(version), types, (name) => ({ allOf: [{ $ref: `#/components/schemas/${name}` }] })),
  },
});

/** Where the kinds are: clients look a resource up by its path. */
function resourcePaths(version: string): JsonObject {
  const own = resources.filter((each) => groupVersion(each) === version);
  return Object.fromEntries(
    own.map(({ group, version, kind, name, isNamespaced }) => {
      const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
      const path = `${root}${isNamespaced ? '/namespaces/{namespace}' : ''}/${name}`;
      const told = { 'x-kubernetes-action': 'list', 'x-kubernetes-group-version-kind': { group, version, kind } };
      return [path, { get: { ...told, responses: {} } }];
    }),
  );
}

function versionTwo(accept: string, types: Types): PlainAnswer {
  const document = {
    swagger: '2.0',
    info: INFO,
    paths: {},
    definitions: definitions(kindsOf(), types, (name) => ({ $ref: `#/definitions/${name}` })),
  };
  if (!accept.includes(PROTOBUF)) return json(document);
  return { code: 200, contentType: ANSWERED_PROTOBUF, body: Buffer.from(protobufOf(document)) };
}
