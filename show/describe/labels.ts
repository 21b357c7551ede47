/** Formats labels, annotations and other lists as `kubectl describe` does. */
import { lookUp } from '../../base/lookUp.ts';

/** Formats a titled list with one value per line. */
export function listed(title: string, words: readonly string[]): string[] {
  const [first = '<none>', ...rest] = words;
  return [`${title}:\t${first}`, ...rest.map((word) => `\t${word}`)];
}

/** Formats labels as `key=value`, sorted by key. */
export const labelText = (labels: Readonly<Record<string, string>> = {}): string[] =>
  Object.keys(labels)
    .sort()
    .map((key) => `${key}=${lookUp(labels, key)}`);

/**
 * Maximum length of an annotation on the line of its key. Longer values and values with several lines follow below the
 * key.
 */
const LONGEST_ANNOTATION = 140;

export function annotationLines(annotations: Readonly<Record<string, string>>): string[] {
  const words = Object.keys(annotations)
    .sort()
    .flatMap((key) => {
      const value = (lookUp(annotations, key) ?? '').replace(/\n$/, '');
      if (key.length + value.length + 2 <= LONGEST_ANNOTATION && !value.includes('\n')) return [`${key}: ${value}`];
      return [`${key}:`, ...value.split('\n').map((line) => `  ${shortened(line)}`)];
    });
  return listed('Annotations', words);
}

const shortened = (line: string): string =>
  line.length <= LONGEST_ANNOTATION - 2 ? line : `${line.slice(0, LONGEST_ANNOTATION - 2)}...`;
