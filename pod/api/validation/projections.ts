import type { Problem } from '../problem.ts';
import type { Volume } from '../schema/volume.ts';
import { validateResourceField } from './resourceField.ts';
import { forbidden, invalid, pathInVolume, required } from './words.ts';

type DownwardApi = NonNullable<Volume['downwardAPI']>;
type Item = NonNullable<DownwardApi['items']>[number];

const FIELDS = /^metadata\.(name|namespace|uid|labels|annotations|(labels|annotations)\['.+'\])$/;
const MODE_RULE = 'file mode must be a number between 0 and 0777 (octal), both inclusive';

/** What a downwardAPI volume shows: each item at a path within the volume, of one field that files can show. */
export function validateDownwardApi({ items = [], defaultMode }: DownwardApi, path: string): Problem[] {
  return [
    ...validateMode(defaultMode, `${path}.defaultMode`),
    ...items.flatMap((item, index) => validateItem(item, `${path}.items[${index}]`)),
  ];
}

/** What a projected volume shows: one kind for each source, and no path twice. */
export function validateProjected(
  { sources = [], defaultMode }: NonNullable<Volume['projected']>,
  path: string,
): Problem[] {
  const seen = new Set<string>();
  return [
    ...validateMode(defaultMode, `${path}.defaultMode`),
    ...sources.flatMap((source, index) => {
      const at = `${path}.sources[${index}]`;
      const { downwardAPI } = source;
      const taken = (downwardAPI?.items ?? []).flatMap((item) => {
        const isTaken = seen.has(item.path);
        seen.add(item.path);
        return isTaken ? [invalid(path, item.path, 'conflicting duplicate paths')] : [];
      });
      return [
        ...Object.keys(source)
          .slice(1)
          .map((kind) => forbidden(`${at}.${kind}`, 'may not specify more than 1 volume type per source')),
        ...(downwardAPI ? validateDownwardApi(downwardAPI, `${at}.downwardAPI`) : []),
        ...taken,
      ];
    }),
  ];
}

function validateItem({ path: file, mode, fieldRef, resourceFieldRef }: Item, path: string): Problem[] {
  const unsupported = 'is not a field supported in volumes';
  return [
    ...(file === '' ? [required(`${path}.path`)] : ownPath(`${path}.path`, file)),
    ...validateMode(mode, `${path}.mode`),
    ...(fieldRef && resourceFieldRef
      ? [invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')]
      : []),
    ...(fieldRef || resourceFieldRef ? [] : [required(path, 'one of fieldRef and resourceFieldRef is required')]),
    ...(fieldRef && !FIELDS.test(fieldRef.fieldPath)
      ? [invalid(`${path}.fieldRef.fieldPath`, fieldRef.fieldPath, unsupported)]
      : []),
    ...(resourceFieldRef ? validateResourceField(resourceFieldRef, `${path}.resourceFieldRef`, unsupported) : []),
    ...(resourceFieldRef && !resourceFieldRef.containerName
      ? [required(`${path}.resourceFieldRef.containerName`)]
      : []),
  ];
}

/** Names that begin with two dots are the volume's own. */
function ownPath(path: string, file: string): Problem[] {
  const problems = pathInVolume(path, file);
  if (problems.length > 0 || !file.startsWith('..')) return problems;
  return [invalid(path, file, "must not start with '..'")];
}

function validateMode(mode: number | undefined, path: string): Problem[] {
  return mode === undefined || (mode >= 0 && mode <= 0o777) ? [] : [invalid(path, mode, MODE_RULE)];
}
