/** Creates and updates objects (`endpoints/handlers/{create,update}.go` of apiserver). */

import type { JsonObject } from '../json.ts';
import { writeOptions } from '../options/writeOptions.ts';
import { readObject } from '../requests/body.ts';
import type { Outcome } from '../requests/request.ts';
import { metadataOf } from '../store/metadata.ts';
import { type Call, checkName, inNamespace, locationOf, writeOptionsOf } from './call.ts';
import { bodyKind } from './subresource.ts';

export function create(call: Call): Outcome {
  const { isDryRun, fieldValidation } = writeOptions(call.query, 'CreateOptions');
  const { object, warnings } = readObject(call.body, call.target.resource, call.types, fieldValidation);
  const requested = inNamespace(call.strategy.defaulted(object), call);
  const created = call.registry.create(call.target.resource, requested, writeOptionsOf(call, isDryRun));
  return { code: 201, object: created, warnings: [...warnings, ...call.strategy.warnings(requested)] };
}

export function update(call: Call): Outcome {
  const { isDryRun, fieldValidation } = writeOptions(call.query, 'UpdateOptions');
  const { object, warnings } = readObject(call.body, bodyKind(call), call.types, fieldValidation);
  const requested: JsonObject = inNamespace(call.strategy.defaulted(object), call);
  checkName(requested, call);
  const { object: written, isCreated } = call.registry.update(locationOf(call), () => requested, {
    ...writeOptionsOf(call, isDryRun),
    uid: metadataOf(requested).uid,
  });
  return { code: isCreated ? 201 : 200, object: written, warnings };
}
