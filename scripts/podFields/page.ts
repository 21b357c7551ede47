/** Generates the page about the fields of a pod's spec by walking through their schema. */
import type * as z from 'zod/mini';
import { podManifestSchema } from '../../kubernetes/api/schema/pod.ts';
import { CLUSTER_COMPONENTS, type FieldTreatment, treatmentByPath } from './treatments.ts';

/**
 * Replacements that map the path of an unlisted field to the path of an equivalent listed field, i.e. one with the same
 * schema and the same treatment by the node.
 */
const EQUIVALENT_PATHS: readonly (readonly [RegExp, string])[] = [
  [/^(initContainers|ephemeralContainers)\[\]/, 'containers[]'],
  [/\.(readinessProbe|startupProbe)\b/, '.livenessProbe'],
  [/\.preStop\b/, '.postStart'],
  [/\.podAntiAffinity\b/, '.podAffinity'],
];

/** Returns the paths of all leaf fields of a pod's spec. `[]` denotes any index and `{}` any key. */
export const listSpecFields = (): string[] => listFieldsBelow(podManifestSchema.shape.spec, '');

function listFieldsBelow(schema: z.core.SomeType, path: string): string[] {
  // Safe cast: every zod schema is in this union, which is discriminated by `def.type`.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'optional':
      return listFieldsBelow(def.innerType, path);
    case 'object':
      return Object.entries(def.shape).flatMap(([name, each]) =>
        listFieldsBelow(each, path === '' ? name : `${path}.${name}`),
      );
    case 'array':
      return listFieldsBelow(def.element, `${path}[]`);
    case 'record':
      return [`${path}{}`];
    case 'string':
    case 'number':
    case 'boolean':
    case 'enum':
    case 'union':
    case 'pipe':
      return [path];
    default:
      throw new TypeError(`${path} has a schema of type ${def.type}, which this walk does not know`);
  }
}

/** Returns the path under which the treatment of a field is listed, or undefined if there is none. */
export const findTreatment = (path: string): string | undefined =>
  findOwnTreatment(path) ?? findOwnTreatment(equivalentPath(path));

const equivalentPath = (path: string): string =>
  EQUIVALENT_PATHS.reduce((result, [from, to]) => result.replace(from, to), path);

/**
 * Returns the path itself if it has a treatment. Otherwise, returns the path of the nearest ancestor whose treatment
 * covers all fields below it.
 */
function findOwnTreatment(path: string): string | undefined {
  if (treatmentByPath.has(path)) return path;
  const segments = path.split('.');
  const ancestorPaths = segments.map((_, index) => segments.slice(0, index + 1).join('.')).reverse();
  return ancestorPaths.find((parent) => treatmentByPath.get(parent)?.coversDescendants === true);
}

const INTRODUCTION = `# The fields of a pod

Every field of a pod's spec takes effect, is rejected, or holds the pod back; a pod never silently gets less than it
requests. This page lists all fields of the schema of Kubernetes 1.36 that the node reads
([kubernetes/api/schema](../kubernetes/api/schema/pod.ts)) with the treatment of each, the file that acts on it, and the effect, or the
reason that users see. A field takes effect in another part of the cluster if that part acts on it before the node gets
the pod. No scheduler places a static pod, so the node warns about such a field in its manifest.

- **takes effect**: the field changes what runs. If the host or its runtime cannot do that, the pod is not run without it:
  the last column names the reason.
- **rejected**: a static pod is reported as invalid and not run; a pod of an API server ends in the phase Failed.
- **holds the pod back**: the pod stays Pending, with the reason as an event, until the node can do what it requests.

\`initContainers[]\` and \`ephemeralContainers[]\` have the fields of \`containers[]\`, \`readinessProbe\` and \`startupProbe\` those of
\`livenessProbe\`, \`preStop\` those of \`postStart\`, and \`podAntiAffinity\` those of \`podAffinity\`. They are treated the same unless
they have a row of their own. Probes and hooks of init containers that are not sidecars are rejected, as in Kubernetes.

This page is written by \`npm run docs\`, from the schema and
[scripts/podFields/treatments.ts](../scripts/podFields/treatments.ts). A field without a treatment fails a test.
For nearly all fields that take effect on the node, [podFieldEffects.test.ts](../test/docs/podFieldEffects.test.ts) shows that
a change of only this field changes what the node does, and lists the fields for which it does not show this.`;

/** Returns the contents of docs/pod-fields.md. */
export function podFieldsPage(): string {
  const fields = listSpecFields();
  const rows = [...treatmentByPath].map(([path, treatment]) => tableRow(path, treatment, fields));
  return [
    INTRODUCTION,
    '',
    `| Field (${fields.length} in all) | Treatment | By | Effect or reason |`,
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function tableRow(path: string, { treatment, owner, text }: FieldTreatment, fields: readonly string[]): string {
  const descendantFields = fields
    .filter((field) => field !== path && field.startsWith(path) && findTreatment(field) === path)
    .map((field) => `\`${field.slice(path.length).replace(/^\./, '')}\``);
  const name = descendantFields.length === 0 ? `\`${path}\`` : `\`${path}\` with ${descendantFields.join(', ')}`;
  const actor = CLUSTER_COMPONENTS.has(owner) ? owner : `[${owner}](../${owner})`;
  return `| ${name} | ${treatment} | ${actor} | ${text.replaceAll('|', '\\|')} |`;
}
