/** Formats labels, annotations and other lists as `kubectl describe` does. */
import { lookUp } from '../../base/values/lookUp.ts';

/** Formats a titled list with one value per line. */
export function titledList(title: string, values: readonly string[]): string[] {
  const [first = '<none>', ...rest] = values;
  return [`${title}:\t${first}`, ...rest.map((value) => `\t${value}`)];
}

/** Formats labels as `key=value`, sorted by key. */
export const labelLines = (labels: Readonly<Record<string, string>> = {}): string[] =>
  Object.keys(labels)
    .sort()
    .map((key) => `${key}=${lookUp(labels, key)}`);

/**
 * Maximum length of an annotation value that is shown on the same line as its key. Longer values and multi-line values
 * are shown below the key.
 */
const MAX_ANNOTATION_LENGTH = 140;

export function annotationLines(annotations: Readonly<Record<string, string>>): string[] {
  const annotationTexts = Object.keys(annotations)
    .sort()
    .flatMap((key) => {
      const value = (lookUp(annotations, key) ?? '').replace(/\n$/, '');
      if (key.length + value.length + 2 <= MAX_ANNOTATION_LENGTH && !value.includes('\n')) return [`${key}: ${value}`];
      return [`${key}:`, ...value.split('\n').map((line) => `  ${truncate(line)}`)];
    });
  return titledList('Annotations', annotationTexts);
}

const truncate = (line: string): string =>
  line.length <= MAX_ANNOTATION_LENGTH - 2 ? line : `${line.slice(0, MAX_ANNOTATION_LENGTH - 2)}...`;
