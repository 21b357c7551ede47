/**
 * Makes apiserver/schema/kubernetes.json of the OpenAPI documents that Kubernetes publishes: `node scripts/openapi.mjs
 * DIRECTORY`, the `api/openapi-spec/v3` of a release. What is in it are the fields of the kinds that the test API server
 * serves, their types, and how patches merge their lists; descriptions are left out.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup/places.mjs';

/** The kinds, by the document that has them. */
const KINDS = {
  api__v1: [
    ...['Binding', 'ConfigMap', 'Event', 'Namespace', 'Node', 'PersistentVolume', 'PersistentVolumeClaim', 'Pod'],
    ...['Secret', 'Service', 'ServiceAccount', 'TokenRequest', 'Eviction', 'DeleteOptions'],
  ],
  'apis__authentication.k8s.io__v1': ['SelfSubjectReview', 'TokenReview'],
  'apis__authorization.k8s.io__v1': ['SelfSubjectAccessReview', 'SubjectAccessReview'],
  'apis__certificates.k8s.io__v1': ['CertificateSigningRequest'],
  'apis__coordination.k8s.io__v1': ['Lease'],
  'apis__events.k8s.io__v1': ['Event'],
  'apis__node.k8s.io__v1': ['RuntimeClass'],
  apis__policy__v1: ['PodDisruptionBudget'],
  'apis__storage.k8s.io__v1': ['CSIDriver', 'CSINode', 'VolumeAttachment'],
};

const REF = '#/components/schemas/';
const nameOf = (ref) => ref.slice(REF.length);

const [, , directory] = process.argv;
const wanted = new Map();
for (const [document, kinds] of Object.entries(KINDS)) {
  const { components } = JSON.parse(readFileSync(join(directory, `${document}_openapi.json`), 'utf8'));
  const { schemas } = components;
  const named = Object.entries(schemas).filter(([name, schema]) => {
    const isOfDocument = (schema['x-kubernetes-group-version-kind'] ?? []).length > 0;
    return isOfDocument && kinds.includes(name.split('.').at(-1));
  });
  const queue = named.map(([name]) => name);
  for (const name of queue) {
    if (wanted.has(name)) continue;
    const schema = schemas[name];
    wanted.set(name, reduced(schema));
    queue.push(...refsIn(schema));
  }
}

function refsIn(value) {
  if (typeof value !== 'object' || value === null) return [];
  if (typeof value.$ref === 'string') return [nameOf(value.$ref)];
  return Object.values(value).flatMap(refsIn);
}

/** What is needed of a schema; what is a type of its own is named. */
function reduced(schema) {
  const { properties, required, allOf, $ref, items, additionalProperties, type, format } = schema;
  const one = $ref ?? allOf?.[0]?.$ref;
  const mergeKey = schema['x-kubernetes-patch-merge-key'];
  const strategy = schema['x-kubernetes-patch-strategy'];
  const kinds = schema['x-kubernetes-group-version-kind'];
  return {
    ...(one ? { ref: nameOf(one) } : { type, format }),
    ...(items && { items: reduced(items) }),
    ...(typeof additionalProperties === 'object' && { values: reduced(additionalProperties) }),
    ...(properties && {
      fields: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, reduced(field)])),
    }),
    ...(required && { required }),
    ...(mergeKey && { mergeKey }),
    ...(strategy && { strategy }),
    // Those that are in every group are of none.
    ...(kinds?.length === 1 && { kind: kinds[0] }),
  };
}

const sorted = Object.fromEntries([...wanted].sort(([one], [other]) => (one < other ? -1 : 1)));
const lines = Object.entries(sorted).map(([name, schema]) => `${JSON.stringify(name)}: ${JSON.stringify(schema)}`);
writeFileSync(join(root, 'apiserver/schema/kubernetes.json'), `{\n${lines.join(',\n')}\n}\n`);
