/**
 * Decodes YAML nodes to JSON values, as sigs.k8s.io/yaml does (`decode.go` of goyaml.v2, `convertToJSONableObject`).
 */

import type { AliasNode, MappingNode, ScalarNode, YamlNode } from './parser.ts';
import { resolvePlain, resolveTagged, ScalarTypeError, type ScalarValue } from './resolveScalar.ts';
import { YamlError } from './scanner.ts';
import { recordSourceText } from './sourceText.ts';

/**
 * Decodes the root node of a document whose expanded size has been checked. An integer that a JavaScript number cannot
 * represent exactly becomes a bigint.
 */
export function decodeNode(node: YamlNode): unknown {
  switch (node.type) {
    case 'alias':
      return decodeNode(node.target);
    case 'scalar':
      return decodeScalar(node);
    case 'sequence': {
      const items = node.items.map(decodeNode);
      for (const [index, item] of node.items.entries()) recordSource(items, index, items[index], item);
      return items;
    }
    case 'mapping':
      return decodeMapping(node);
  }
}

function decodeScalar(node: ScalarNode): unknown {
  const value = resolveValue(node);
  if (typeof value === 'bigint') return toExactNumber(value);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    const sign = value > 0 ? '+' : '-';
    const name = Number.isNaN(value) ? 'NaN' : `${sign}Inf`;
    throw new YamlError(`unsupported value: ${name}, written ${node.sourceText}; quote it if it is text`, node.start);
  }
  return value;
}

/** Returns an integer as a number if a number can represent it exactly, or else unchanged. */
function toExactNumber(value: bigint): number | bigint {
  const exactNumber = Number(value);
  return Number.isSafeInteger(exactNumber) ? exactNumber : value;
}

function resolveValue(node: ScalarNode): ScalarValue {
  const { tag, value, isPlain, start } = node;
  if (tag === undefined) return isPlain ? resolvePlain(value) : value;
  try {
    return resolveTagged(tag, value);
  } catch (error) {
    if (error instanceof ScalarTypeError) throw new YamlError(error.message, start);
    throw error;
  }
}

function decodeMapping(node: MappingNode): unknown {
  const fields: object = {};
  const keys = new Set<string>();
  for (const [keyNode, valueNode] of node.entries) {
    if (isMerge(keyNode)) {
      mergeSources(valueNode, fields);
      continue;
    }
    const key = decodeKey(keyNode);
    if (keys.has(key)) {
      throw new YamlError(`key ${JSON.stringify(key)} is already set in this mapping`, keyNode.start);
    }
    keys.add(key);
    setField(fields, key, valueNode);
  }
  return fields;
}

function setField(fields: object, key: string, node: YamlNode): void {
  const value = decodeNode(node);
  // Define the property, because an assignment would not create a field named `__proto__`.
  Object.defineProperty(fields, key, { value, enumerable: true, configurable: true, writable: true });
  recordSource(fields, key, value, node);
}

/** Records the source text of a value that is not a string, so that messages about its type can quote it. */
function recordSource(parent: object, key: string | number, value: unknown, node: YamlNode): void {
  if (typeof value === 'string') return;
  const scalar = node.type === 'alias' ? node.target : node;
  if (scalar.type !== 'scalar' || !scalar.isPlain || scalar.sourceText === '') return;
  recordSourceText(parent, key, {
    text: scalar.sourceText,
    line: scalar.start.line + 1,
    column: scalar.start.column + 1,
  });
}

function isMerge(node: YamlNode): boolean {
  if (node.type !== 'scalar' || node.value !== '<<') return false;
  return node.tag === undefined ? node.isPlain : node.tag === '!' || node.tag === 'tag:yaml.org,2002:merge';
}

/**
 * Merges the mappings of a `<<` key. The merged fields override fields before the key and are overridden by fields
 * after it.
 */
function mergeSources(node: YamlNode, fields: object): void {
  const sources = node.type === 'sequence' ? node.items.toReversed() : [node];
  for (const source of sources) {
    const mapping = source.type === 'alias' ? source.target : source;
    if (mapping.type !== 'mapping') {
      throw new YamlError('the value of << has to be a mapping or a list of mappings', source.start);
    }
    mergeMapping(mapping, fields);
  }
}

function mergeMapping(mapping: MappingNode, fields: object): void {
  const source = decodeMapping(mapping);
  if (typeof source === 'object' && source !== null)
    Object.defineProperties(fields, Object.getOwnPropertyDescriptors(source));
}

/** Decodes a field name. A float is formatted with 32-bit precision, as in Go. */
function decodeKey(node: YamlNode): string {
  const scalar: AliasNode['target'] = node.type === 'alias' ? node.target : node;
  if (scalar.type !== 'scalar') throw new YamlError('a key cannot be a list or a mapping', node.start);
  const value = resolveValue(scalar);
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return shortFloat(value);
    case 'bigint':
      if (value > 2n ** 63n - 1n) throw unsupportedKey(scalar);
      return String(value);
    case 'boolean':
      return String(value);
    default:
      throw unsupportedKey(scalar);
  }
}

function unsupportedKey({ sourceText, start }: ScalarNode): YamlError {
  const message = sourceText === '' ? 'a key is missing' : `${sourceText} cannot be a key; quote it if it is text`;
  return new YamlError(message, start);
}

/** Formats a number like Go's `strconv.FormatFloat(value, 'g', -1, 32)`, or like YAML if it is not finite. */
function shortFloat(value: number): string {
  const float32 = Math.fround(value);
  if (Number.isNaN(float32)) return '.nan';
  if (!Number.isFinite(float32)) return float32 > 0 ? '.inf' : '-.inf';
  if (float32 === 0) return Object.is(float32, -0) ? '-0' : '0';
  const [digits = '', power = '0'] = shortestDigits(float32).split('e');
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 6) {
    const sign = exponent < 0 ? '-' : '+';
    return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  return String(Number(`${digits}e${exponent}`));
}

/** Returns the shortest exponential notation that parses back to the same 32-bit float. */
function shortestDigits(float32: number): string {
  for (let fractionDigits = 0; fractionDigits < 9; fractionDigits += 1) {
    const text = float32.toExponential(fractionDigits);
    if (Math.fround(Number(text)) === float32) return text;
  }
  return float32.toExponential(9);
}
