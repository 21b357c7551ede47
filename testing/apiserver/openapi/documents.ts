/** OpenAPI documents: one of version 3 for each group version, and one of version 2 for all. */
import { createHash } from 'node:crypto';
import { KUBERNETES_VERSION } from '../../../kubernetes/api/version.ts';
import { jsonResponse, type PlainResponse } from '../discovery/plainPaths.ts';
import type { JsonObject } from '../json.ts';
import { groupVersion } from '../resources/resource.ts';
import { resources } from '../resources/resources.ts';
import type { Types } from '../schema/types.ts';
import { definitions, kindsOf } from './definitions.ts';
import { protobufOf } from './protobuf.ts';

const INFO = { title: 'Kubernetes', version: `v${KUBERNETES_VERSION}.0` };
const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
/** The content type of the kube-apiserver's response, because `@` is not allowed in a media type. */
const ANSWERED_PROTOBUF = PROTOBUF.replace('@', '.');
const ROOT = '/openapi/v3';

/** Returns the OpenAPI document at a path. Undefined if the path is not an OpenAPI path. */
export function openApi(pathname: string, accept: string, types: Types): PlainResponse | undefined {
  if (pathname === '/openapi/v2') return versionTwo(accept, types);
  if (pathname === ROOT || pathname === `${ROOT}/`)
    return { ...jsonResponse({ paths: paths(types) }), contentType: 'text/plain; charset=utf-8' };
  if (!pathname.startsWith(`${ROOT}/`)) return undefined;
  const version = versions().get(pathname.slice(ROOT.length + 1));
  return version === undefined
    ? { code: 404, contentType: undefined, body: '' }
    : jsonResponse(versionThree(version, types));
}

/** The group versions by path prefix. */
const versions = (): ReadonlyMap<string, string> =>
  new Map(resources.map((each) => [`${each.group === '' ? 'api' : 'apis'}/${groupVersion(each)}`, groupVersion(each)]));

/** The URL of each document contains a hash of its contents for client caches. */
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

/** The paths of resources, which clients use to look up their kinds. */
function resourcePaths(version: string): JsonObject {
  const own = resources.filter((each) => groupVersion(each) === version);
  return Object.fromEntries(
    own.map(({ group, version, kind, name, isNamespaced }) => {
      const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
      const path = `${root}${isNamespaced ? '/namespaces/{namespace}' : ''}/${name}`;
      const extensions = { 'x-kubernetes-action': 'list', 'x-kubernetes-group-version-kind': { group, version, kind } };
      return [path, { get: { ...extensions, responses: {} } }];
    }),
  );
}

function versionTwo(accept: string, types: Types): PlainResponse {
  const document = {
    swagger: '2.0',
    info: INFO,
    paths: {},
    definitions: definitions(kindsOf(), types, (name) => ({ $ref: `#/definitions/${name}` })),
  };
  if (!accept.includes(PROTOBUF)) return jsonResponse(document);
  return { code: 200, contentType: ANSWERED_PROTOBUF, body: Buffer.from(protobufOf(document)) };
}
