/** Writes an OpenAPI 2 document as protobuf for old clients (`OpenAPIv2.proto` of google/gnostic). */
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { lookUp } from '../../../base/values/lookUp.ts';
import { isList, isObject, type Json, type JsonObject, objectAt, textAt } from '../json.ts';

/** Field numbers. */
const DOCUMENT = { swagger: 1, info: 2, paths: 8, definitions: 9 } as const;
const INFO = { title: 1, version: 2 } as const;
const NAMED = { name: 1, value: 2 } as const;
const SCHEMA = {
  ref: 1,
  format: 2,
  additionalProperties: 21,
  type: 22,
  items: 23,
  properties: 25,
  extension: 31,
} as const;
const YAML_OF_ANY = 2;

type Write = (writer: BinaryWriter) => void;

const message = (writer: BinaryWriter, field: number, write: Write): void => {
  writer.uint32((field << 3) | 2).fork();
  write(writer);
  writer.join();
};

const text = (writer: BinaryWriter, field: number, value: string): void => {
  if (value !== '') writer.uint32((field << 3) | 2).string(value);
};

export function protobufOf(document: JsonObject): Uint8Array {
  const writer = new BinaryWriter();
  const info = objectAt(document, 'info');
  text(writer, DOCUMENT.swagger, textAt(document, 'swagger'));
  message(writer, DOCUMENT.info, (inner) => {
    text(inner, INFO.title, textAt(info, 'title'));
    text(inner, INFO.version, textAt(info, 'version'));
  });
  message(writer, DOCUMENT.paths, () => undefined);
  message(writer, DOCUMENT.definitions, (inner) => writeNamed(inner, 1, objectAt(document, 'definitions')));
  return writer.finish();
}

/** Writes schemas with their names. */
function writeNamed(writer: BinaryWriter, field: number, schemas: JsonObject): void {
  for (const [name, schema] of Object.entries(schemas)) {
    message(writer, field, (inner) => {
      text(inner, NAMED.name, name);
      message(inner, NAMED.value, (value) => writeSchema(value, isObject(schema) ? schema : {}));
    });
  }
}

function writeSchema(writer: BinaryWriter, schema: JsonObject): void {
  text(writer, SCHEMA.ref, textAt(schema, '$ref'));
  text(writer, SCHEMA.format, textAt(schema, 'format'));
  const values = lookUp(schema, 'additionalProperties');
  if (isObject(values))
    message(writer, SCHEMA.additionalProperties, (inner) => message(inner, 1, (each) => writeSchema(each, values)));
  const type = textAt(schema, 'type');
  if (type !== '') message(writer, SCHEMA.type, (inner) => text(inner, 1, type));
  const items = lookUp(schema, 'items');
  if (isObject(items)) message(writer, SCHEMA.items, (inner) => message(inner, 1, (each) => writeSchema(each, items)));
  const properties = lookUp(schema, 'properties');
  if (isObject(properties)) message(writer, SCHEMA.properties, (inner) => writeNamed(inner, 1, properties));
  for (const [name, value] of Object.entries(schema)) if (name.startsWith('x-')) writeExtension(writer, name, value);
}

/** Writes an extension as YAML. */
function writeExtension(writer: BinaryWriter, name: string, value: Json): void {
  message(writer, SCHEMA.extension, (inner) => {
    text(inner, NAMED.name, name);
    message(inner, NAMED.value, (any) => text(any, YAML_OF_ANY, yamlOf(value)));
  });
}

/** JSON is valid YAML. */
const yamlOf = (value: Json): string => (isList(value) || isObject(value) ? JSON.stringify(value) : String(value));
