import { parseAllDocuments, type Tags } from 'yaml';
import { withDefaults } from '../../pod/defaults.ts';
import { readManifest } from '../../pod/manifest.ts';
import type { Problem } from '../../pod/problem.ts';
import { type RuntimeClasses, withRuntimeClass } from '../../pod/runtimeClass.ts';
import type { Pod } from '../../pod/schema/pod.ts';
import { staticPod } from '../../pod/staticPod.ts';
import { validatePod } from '../../pod/validate.ts';

/** What a manifest's text gives: the static pod to run, or all that is wrong with it. */
export type ManifestFile =
  | { readonly pod: Pod; readonly warnings: readonly Problem[] }
  | { readonly problems: readonly Problem[] };

interface ManifestOrigin {
  readonly file: string;
  readonly nodeName: string;
  /** Milliseconds since the epoch. */
  readonly seenAt: number;
  /** Those that a pod may name. */
  readonly classes?: RuntimeClasses;
  /** The pod that there was of it before. */
  readonly admitted?: Pod;
}

/** Reads the text of a file, YAML or JSON with one pod, as the static pod that the node runs of it (C24). */
export function parseManifestFile(
  text: string,
  { file, nodeName, seenAt, classes = new Map(), admitted: before }: ManifestOrigin,
): ManifestFile {
  const parsed = parseManifestText(text, 'the file');
  if ('problem' in parsed) return { problems: [parsed.problem] };
  const manifest = readManifest(parsed.value);
  if ('problems' in manifest) return manifest;
  const admitted = withRuntimeClass(
    staticPod(manifest.pod, { nodeName, source: 'file', origin: file, seenAt }),
    classes,
    before,
  );
  if ('problems' in admitted) return { problems: [...admitted.problems, ...manifest.warnings] };
  const pod = withDefaults(admitted.pod);
  const problems = validatePod(pod);
  return problems.length > 0 ? { problems: [...problems, ...manifest.warnings] } : { pod, warnings: manifest.warnings };
}

/** Parses YAML 1.1 or JSON of one document; `what` is what holds the text. */
export function parseManifestText(text: string, what: string): { value: unknown } | { problem: Problem } {
  try {
    const documents = [...parseAllDocuments(text, { version: '1.1', customTags: kubernetesTags })];
    const error = documents.flatMap((each) => each.errors)[0];
    if (error !== undefined) return wrong(firstLine(error.message));
    const values = documents.map((each): unknown => each.toJS()).filter((each) => each !== null && each !== undefined);
    if (values.length === 0) return wrong(`${what} is empty`);
    if (values.length > 1) return wrong('expected one Pod, got several documents: write each into a file of its own');
    return { value: values[0] };
  } catch (error) {
    // An alias without its anchor, or too many of them, is found only now.
    return wrong(error instanceof Error ? firstLine(error.message) : String(error));
  }
}

function wrong(message: string): { problem: Problem } {
  return { problem: { path: '', message } };
}

/** The parser's message with its line and column, without the excerpt under it. */
function firstLine(message: string): string {
  return message.replace(/:?\n[\s\S]*$/, '');
}

/** Kubernetes reads YAML 1.1 (`0644` is octal, `yes` is true), but for the types that JSON does not have. */
function kubernetesTags(tags: Tags): Tags {
  const foreign = /:(timestamp|binary|omap|pairs|set)$/;
  return tags.filter(
    (tag) => typeof tag === 'string' || !(foreign.test(tag.tag) || ('format' in tag && tag.format === 'TIME')),
  );
}
