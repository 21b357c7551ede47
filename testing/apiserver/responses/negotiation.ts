/** Content negotiation of responses (`endpoints/handlers/negotiation`). */
import { Failure } from '../failures/failures.ts';

export interface Representation {
  readonly mediaType: 'application/json' | 'application/yaml';
  /** The shape of the object: unchanged, a table, or its metadata only. */
  readonly as: 'object' | 'table' | 'metadata';
  /** The version of the shape, if it has one. */
  readonly version: 'v1' | 'v1beta1';
  readonly isPretty: boolean;
}

const ACCEPTED = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
const AVAILABLE = `${ACCEPTED}, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch`;

/** Returns the first acceptable representation. Throws a `Failure` if there is none. */
export function representationOf(accept: string, query: URLSearchParams): Representation {
  let isOther = false;
  const isPretty = !['', 'false', '0'].includes(query.get('pretty') ?? '');
  for (const clause of accept === '' ? ['*/*'] : accept.split(',')) {
    const [type = '', ...parameters] = clause.split(';').map((part) => part.trim());
    const mediaType = mediaTypeOf(type);
    const options = new Map(parameters.map((each) => pairOf(each)));
    const as = shapeOf(options);
    isOther ||= mediaType !== undefined && as === undefined;
    const version = options.get('v') === 'v1beta1' ? 'v1beta1' : 'v1';
    if (mediaType !== undefined && as !== undefined) return { mediaType, as, version, isPretty };
  }
  if (isOther) throw new Failure(406, 'NotAcceptable', `only the following media types are accepted: ${ACCEPTED}`);
  throw new Failure(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${AVAILABLE}`, {});
}

function mediaTypeOf(type: string): Representation['mediaType'] | undefined {
  if (['*/*', 'application/*', 'application/json'].includes(type)) return 'application/json';
  return type === 'application/yaml' ? type : undefined;
}

const pairOf = (parameter: string): readonly [string, string] => {
  const at = parameter.indexOf('=');
  return at < 0 ? [parameter, ''] : [parameter.slice(0, at), parameter.slice(at + 1)];
};

function shapeOf(parameters: ReadonlyMap<string, string>): Representation['as'] | undefined {
  const as = parameters.get('as');
  if (as === undefined) return 'object';
  const isOfMeta = parameters.get('g') === 'meta.k8s.io' && ['v1', 'v1beta1'].includes(parameters.get('v') ?? '');
  if (!isOfMeta) return undefined;
  if (as === 'Table') return 'table';
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList' ? 'metadata' : undefined;
}
