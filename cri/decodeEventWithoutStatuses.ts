import { BinaryReader } from '@bufbuild/protobuf/wire';
import { ContainerEventResponse } from './generated/runtime.ts';

/** Fields of `ContainerEventResponse` that are decoded: the ID, the type and the time of creation. */
const DECODED_FIELDS = 3;

/** Decodes an event except for the statuses of the sandbox and the containers, which stay empty. */
export function decodeEventWithoutStatuses(bytes: Uint8Array): ContainerEventResponse {
  const reader = new BinaryReader(bytes);
  const decodedParts: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [field, wireType] = reader.tag();
    reader.skip(wireType, field);
    if (field <= DECODED_FIELDS) decodedParts.push(bytes.subarray(start, reader.pos));
  }
  return ContainerEventResponse.decode(Buffer.concat(decodedParts));
}
