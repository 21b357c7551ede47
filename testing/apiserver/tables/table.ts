/** Tables for kubectl (`pkg/printers` of kubernetes). */
import { lookUp } from '../../../base/values/lookUp.ts';
import { isList, isObject, type JsonObject, objectAt, textAt } from '../json.ts';
import { metadataOf } from '../store/metadata.ts';
import { columnsOf } from './columns.ts';

/** The object in each row. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface TableInput {
  readonly kind: string;
  readonly version: 'v1' | 'v1beta1';
  readonly include: IncludeObject;
  readonly now: number;
  /** Converts an object to the version of the client. */
  readonly shown: (object: JsonObject) => JsonObject;
}

/** Returns a table of an object, or of the entries of a list. */
export function tableOf(object: JsonObject, input: TableInput): JsonObject {
  const items = lookUp(object, 'items');
  const isWhole = isList(items) && textAt(object, 'kind').endsWith('List');
  const objects = isWhole ? items.filter(isObject) : [object];
  const metadata = isWhole
    ? objectAt(object, 'metadata')
    : { resourceVersion: metadataOf(object).resourceVersion ?? '' };
  return { ...headOf(input), metadata, rows: objects.map((each) => rowOf(each, input)) };
}

const headOf = ({ kind, version }: TableInput): JsonObject => ({
  kind: 'Table',
  apiVersion: `meta.k8s.io/${version}`,
  columnDefinitions: columnsOf(kind).map(({ name, type, format, isWide }) => ({
    name,
    type,
    format,
    description: '',
    priority: isWide ? 1 : 0,
  })),
});

function rowOf(object: JsonObject, { kind, version, include, now, shown }: TableInput): JsonObject {
  const conditions = kind === 'Pod' ? completion(object) : [];
  const apiVersion = `meta.k8s.io/${version}`;
  const rowObject = {
    None: undefined,
    Metadata: { kind: 'PartialObjectMetadata', apiVersion, metadata: objectAt(object, 'metadata') },
    Object: shown(object),
  }[include];
  return {
    cells: columnsOf(kind).map(({ cell }) => cell(object, now)),
    ...(conditions.length > 0 ? { conditions } : {}),
    ...(rowObject === undefined ? {} : { object: rowObject }),
  };
}

const COMPLETED: ReadonlyMap<string, string> = new Map([
  ['Succeeded', 'The pod has completed successfully.'],
  ['Failed', 'The pod failed.'],
]);

/** Returns the condition that lets clients filter completed pods. */
function completion(pod: JsonObject): JsonObject[] {
  const reason = textAt(objectAt(pod, 'status'), 'phase');
  const message = COMPLETED.get(reason);
  return message === undefined ? [] : [{ type: 'Completed', status: 'True', reason, message }];
}
