/** Options of a write in the query (`metav1/validation/validation.go` of apimachinery). */

import { forbidden, notSupported, tooLong } from '../failures/causes.ts';
import { type Cause, invalid } from '../failures/failures.ts';
import type { FieldValidation } from '../requests/body.ts';

export interface WriteOptions {
  /** Whether the write is validated without being stored. */
  readonly isDryRun: boolean;
  readonly fieldValidation: FieldValidation;
  /** The name of the field manager. Default: derived from the user agent. */
  readonly fieldManager: string | undefined;
  /** Whether an apply takes over fields from other managers. */
  readonly isForced: boolean;
}

export type WriteKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

const MAX_MANAGER_BYTES = 128;

/** Reads the options from the query. Throws a `Failure` with all problems. `isApply` is true for an apply patch. */
export function writeOptions(query: URLSearchParams, kind: WriteKind, isApply = false): WriteOptions {
  const dryRun = query.getAll('dryRun');
  const fieldValidation = query.get('fieldValidation') ?? '';
  const fieldManager = query.get('fieldManager') ?? undefined;
  const isForced = kind === 'PatchOptions' && isTrue(query.get('force'));
  const causes: Cause[] = [
    ...(isForced && !isApply ? [forbidden('force', 'may not be specified for non-apply patch')] : []),
    ...(Buffer.byteLength(fieldManager ?? '') > MAX_MANAGER_BYTES ? [tooLong('fieldManager', MAX_MANAGER_BYTES)] : []),
    ...dryRun.filter((each) => each !== 'All').map((each) => notSupported('dryRun', each, ['All'])),
  ];
  const level = fieldValidationOf(fieldValidation);
  if (level === undefined)
    causes.push(notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']));
  if (level === undefined || causes.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', causes);
  return { isDryRun: dryRun.length > 0, fieldValidation: level, fieldManager, isForced };
}

/** The kube-apiserver's default is `Warn`. */
function fieldValidationOf(text: string): FieldValidation | undefined {
  if (text === '') return 'Warn';
  return text === 'Ignore' || text === 'Warn' || text === 'Strict' ? text : undefined;
}

/** Parses a boolean query parameter. Only `false` and `0` mean false, and an empty value means true. */
export const isTrue = (value: string | null): boolean => value !== null && value !== 'false' && value !== '0';
