/**
 * Generates testing/apiserver/schema/kubernetes.json: `node scripts/openapi.mjs SPEC STAGING`, where SPEC and STAGING
 * are the directories `api/openapi-spec/v3` and `staging/src/k8s.io` of a release. The schema contains the kinds that
 * the test API server serves. The OpenAPI documents provide the fields, their types and the merge strategies of lists.
 * The Go types provide the Go type of each field, whether it is omitted if empty, and its protobuf number, e.g. `2.1`
 * for field 1 of an inlined field 2. Descriptions are omitted.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup/places.mjs';

/** The kinds, by the OpenAPI document that defines them. */
const KINDS_BY_DOCUMENT = {
  api__v1: [
    'Binding',
    'ConfigMap',
    'Event',
    'Namespace',
    'Node',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Pod',
    'Secret',
    'Service',
    'ServiceAccount',
    'TokenRequest',
    'Eviction',
    'DeleteOptions',
  ],
  'apis__authentication.k8s.io__v1': ['SelfSubjectReview', 'TokenReview'],
  'apis__authorization.k8s.io__v1': ['SelfSubjectAccessReview', 'SubjectAccessReview'],
  'apis__certificates.k8s.io__v1': ['CertificateSigningRequest'],
  'apis__coordination.k8s.io__v1': ['Lease'],
  'apis__events.k8s.io__v1': ['Event'],
  'apis__node.k8s.io__v1': ['RuntimeClass'],
  apis__policy__v1: ['PodDisruptionBudget'],
  'apis__resource.k8s.io__v1': ['ResourceClaim', 'ResourceSlice'],
  'apis__scheduling.k8s.io__v1': ['PriorityClass'],
  'apis__storage.k8s.io__v1': ['CSIDriver', 'CSINode', 'VolumeAttachment'],
};

const REF_PREFIX = '#/components/schemas/';
const schemaNameOfRef = (ref) => ref.slice(REF_PREFIX.length);

/** The packages of the Go types, by the prefix of their schema names. */
const GO_PACKAGE_PATHS = {
  'io.k8s.api.authentication.v1': 'api/authentication/v1',
  'io.k8s.api.authorization.v1': 'api/authorization/v1',
  'io.k8s.api.certificates.v1': 'api/certificates/v1',
  'io.k8s.api.coordination.v1': 'api/coordination/v1',
  'io.k8s.api.core.v1': 'api/core/v1',
  'io.k8s.api.events.v1': 'api/events/v1',
  'io.k8s.api.node.v1': 'api/node/v1',
  'io.k8s.api.policy.v1': 'api/policy/v1',
  'io.k8s.api.resource.v1': 'api/resource/v1',
  'io.k8s.api.scheduling.v1': 'api/scheduling/v1',
  'io.k8s.api.storage.v1': 'api/storage/v1',
  'io.k8s.apimachinery.pkg.apis.meta.v1': 'apimachinery/pkg/apis/meta/v1',
};

const [, , directory, staging] = process.argv;
/** The fields of Go types, by schema name. */
const goTypes = new Map(
  Object.entries(GO_PACKAGE_PATHS).flatMap(([name, path]) => parseStructs(name, join(staging, path, 'types.go'))),
);
const schemasByName = new Map();
for (const [document, kinds] of Object.entries(KINDS_BY_DOCUMENT)) {
  const { components } = JSON.parse(readFileSync(join(directory, `${document}_openapi.json`), 'utf8'));
  const { schemas } = components;
  const selectedSchemas = Object.entries(schemas).filter(([name, schema]) => {
    const isOfDocument = (schema['x-kubernetes-group-version-kind'] ?? []).length > 0;
    return isOfDocument && kinds.includes(name.split('.').at(-1));
  });
  const queue = selectedSchemas.map(([name]) => name);
  for (const name of queue) {
    if (schemasByName.has(name)) continue;
    const schema = schemas[name];
    schemasByName.set(name, reduceSchema(schema, collectGoFields(name)));
    queue.push(...findReferences(schema));
  }
}

function findReferences(value) {
  if (typeof value !== 'object' || value === null) return [];
  if (typeof value.$ref === 'string') return [schemaNameOfRef(value.$ref)];
  return Object.values(value).flatMap(findReferences);
}

/**
 * Returns the fields of each struct in a Go file, as pairs of the struct's schema name and a list of fields. `name` is
 * the prefix of the schema names.
 */
function parseStructs(name, file) {
  const structMatches = readFileSync(file, 'utf8').matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms);
  return [...structMatches].map(([, struct, body]) => [
    `${name}.${struct}`,
    [...body.matchAll(/^\t(?:(\w+)\s+)?(\S+)\s+`json:"([^"]*)"([^`]*)/gm)].map(([, , type, tag, otherTags]) => {
      const [field, ...options] = tag.split(',');
      return {
        field,
        type,
        number: /protobuf:"\w+,(\d+),/.exec(otherTags)?.[1],
        isInline: options.includes('inline'),
        isOmitted: options.includes('omitempty'),
        omitsZero: options.includes('omitzero'),
      };
    }),
  ]);
}

/** Returns the fields of a type and of its inlined types, by JSON name. */
function collectGoFields(name) {
  const prefix = name.slice(0, name.lastIndexOf('.'));
  const fields = goTypes.get(name) ?? [];
  const own = fields.filter(({ isInline }) => !isInline).map((each) => [each.field, each]);
  const inlinedFields = fields
    .filter(({ isInline }) => isInline)
    .flatMap(({ type, number }) => {
      const goType = type.startsWith('metav1.')
        ? `io.k8s.apimachinery.pkg.apis.meta.v1.${type.slice(7)}`
        : `${prefix}.${type}`;
      return [...collectGoFields(goType)].map(([name, each]) => [
        name,
        { ...each, number: joinFieldNumbers(number, each.number) },
      ]);
    });
  return new Map([...inlinedFields, ...own]);
}

/**
 * Joins the protobuf field numbers of an inlined field and of a field in its type. Undefined if either field has no
 * number.
 */
function joinFieldNumbers(outer, inner) {
  return outer === undefined || inner === undefined ? undefined : `${outer}.${inner}`;
}

/** Reduces a schema to the properties that the test API server needs. Other types are referenced by name. */
function reduceSchema(schema, goFields = new Map()) {
  const { properties, required, allOf, $ref, items, additionalProperties, type, format } = schema;
  const ref = $ref ?? allOf?.[0]?.$ref;
  const mergeKey = schema['x-kubernetes-patch-merge-key'];
  const strategy = schema['x-kubernetes-patch-strategy'];
  const groupVersionKinds = schema['x-kubernetes-group-version-kind'];
  return {
    ...(ref ? { ref: schemaNameOfRef(ref) } : { type, format }),
    ...(items && { items: reduceSchema(items) }),
    ...(typeof additionalProperties === 'object' && { values: reduceSchema(additionalProperties) }),
    ...(properties && {
      fields: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [
          name,
          { ...reduceSchema(field), ...goFieldInfo(goFields.get(name)) },
        ]),
      ),
    }),
    ...(required && { required }),
    ...(mergeKey && { mergeKey }),
    ...(strategy && { strategy }),
    // Omit the kind of a type with several group-version-kinds, such as DeleteOptions, because all groups share the
    // type.
    ...(groupVersionKinds?.length === 1 && { kind: groupVersionKinds[0] }),
  };
}

/** Returns the Go-specific properties of a field. */
function goFieldInfo(field) {
  if (field === undefined) return {};
  return {
    go: field.type,
    ...(field.number ? { number: field.number } : {}),
    ...(field.isOmitted ? {} : { isWritten: true }),
    ...(field.omitsZero ? { omitsZero: true } : {}),
  };
}

const sortedSchemas = Object.fromEntries([...schemasByName].sort(([left], [right]) => (left < right ? -1 : 1)));
const schemaLines = Object.entries(sortedSchemas).map(
  ([name, schema]) => `${JSON.stringify(name)}: ${JSON.stringify(schema)}`,
);
writeFileSync(join(root, 'testing/apiserver/schema/kubernetes.json'), `{\n${schemaLines.join(',\n')}\n}\n`);
