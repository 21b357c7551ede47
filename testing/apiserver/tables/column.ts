/** Shared columns of tables. */
import { humanDuration } from '../../../base/time/duration.ts';
import type { Json, JsonObject } from '../json.ts';
import { objectAt, textAt } from '../json.ts';
import { metadataOf } from '../store/metadata.ts';

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly format: '' | 'name';
  /** Whether the column is shown only in wide output. */
  readonly isWide: boolean;
  readonly cell: (object: JsonObject, now: number) => Json;
}

type Cell = Column['cell'];

export const text = (name: string, cell: Cell): Column => ({
  name,
  type: 'string',
  format: '',
  isWide: false,
  cell,
});
export const wide = (name: string, cell: Cell): Column => ({ ...text(name, cell), isWide: true });
export const typed = (type: Column['type'], name: string, cell: Cell): Column => ({ ...text(name, cell), type });

export const NAME: Column = { ...text('Name', (object) => metadataOf(object).name ?? ''), format: 'name' };
export const AGE: Column = text('Age', (object, now) =>
  since(textAt(objectAt(object, 'metadata'), 'creationTimestamp'), now),
);

/** The time since a timestamp. */
export const since = (time: string, now: number): string =>
  time === '' ? '<unknown>' : humanDuration(now - Date.parse(time));

/** The string at a path of fields, or `otherwise`. */
export const at =
  (path: string, otherwise = ''): Cell =>
  (object) => {
    const names = path.split('.');
    const last = names.pop() ?? '';
    return (
      textAt(
        names.reduce<JsonObject>((within, name) => objectAt(within, name), object),
        last,
      ) || otherwise
    );
  };

/** The total number of entries in some fields. */
export const countOf =
  (...fields: readonly string[]): Cell =>
  (object): Json =>
    fields.reduce((sum, field) => sum + Object.keys(objectAt(object, field)).length, 0);
