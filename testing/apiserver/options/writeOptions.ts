/** What a client may ask of a write in its query (`metav1/validation/validation.go` of apimachinery). */
import type { FieldValidation } from '../body.ts';
import { forbidden, notSupported, tooLong } from '../causes.ts';
import { type Cause, invalid } from '../failures.ts';

export interface WriteOptions {
  /** The write is checked and answered, and nothing is stored. */
  readonly isDryRun: boolean;
  readonly fieldValidation: FieldValidation;
  /** Who is told to have written; undefined: whoever the user agent says. */
  readonly fieldManager: string | undefined;
  /** An apply takes fields over from others. */
  readonly isForced: boolean;
}

export type WriteKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

const LONGEST_MANAGER = 128;

/** Throws a `Failure` that names all that is wrong; `isApply`: a patch that is applied. */
export function writeOptions(query: URLSearchParams, kind: WriteKind, isApply = false): WriteOptions {
  const dryRun = query.getAll('dryRun');
  const fieldValidation = query.get('fieldValidation') ?? '';
  const fieldManager = query.get('fieldManager') ?? undefined;
  const isForced = kind === 'PatchOptions' && isTrue(query.get('force'));
  const causes: Cause[] = [
    ...(isForced && !isApply ? [forbidden('force', 'may not be specified for non-apply patch')] : []),
    ...(Buffer.byteLength(fieldManager ?? '') > LONGEST_MANAGER ? [tooLong('fieldManager', LONGEST_MANAGER)] : []),
    ...dryRun.filter((each) => each !== 'All').map((each) => notSupported('dryRun', each, ['All'])),
  ];
  const asked = fieldValidationOf(fieldValidation);
  if (asked === undefined)
    causes.push(notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']));
  if (asked === undefined || causes.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', causes);
  return { isDryRun: dryRun.length > 0, fieldValidation: asked, fieldManager, isForced };
}

/** Empty: a warning is what a kube-apiserver gives of itself. */
function fieldValidationOf(text: string): FieldValidation | undefined {
  if (text === '') return 'Warn';
  return text === 'Ignore' || text === 'Warn' || text === 'Strict' ? text : undefined;
}

/** A switch in a query: there without a value it is on, and so it is with any value but these two. */
export const isTrue = (value: string | null): boolean => value !== null && value !== 'false' && value !== '0';
