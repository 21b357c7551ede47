/**
 * Maps the log statements of a bundle to their source lines, for `callerOfLog` in node/log/textLog.ts, because a stack
 * trace contains only positions in the bundle.
 */
import { SourceMap, type SourceMapPayload } from 'node:module';
import { basename } from 'node:path';

/**
 * Matches a logger call up to the position that V8 reports for it, which is the method's name or the parenthesis after
 * `[level]`.
 */
const LOGGER_CALL_PATTERN = /\blogger\d*(?:\.(?=(?:trace|debug|info|warn|error|fatal)\()|\[[^\]]+\](?=\())/g;

/**
 * Returns the source file and line of each log statement (`logStatuses.ts:69`), keyed by the statement's position in the
 * bundle (`557:1204`). Lines and columns are counted from 1. `encode` is applied to the text before it is written, and
 * may change columns but not lines.
 */
export function logCallers(text: string, sourceMap: string, encode: (part: string) => string): Record<string, string> {
  // Safe cast: esbuild writes source maps of version 3, the version that `SourceMap` reads.
  const map = new SourceMap(JSON.parse(sourceMap) as SourceMapPayload);
  const callers = text.split('\n').flatMap((line, index) =>
    [...line.matchAll(LOGGER_CALL_PATTERN)].map((call) => {
      const originalPosition = map.findOrigin(index + 1, call.index + 1);
      if (!('fileName' in originalPosition))
        throw new Error(`the source map does not have line ${index + 1} of the bundle`);
      const column = encode(line.slice(0, call.index + call[0].length)).length + 1;
      return [
        `${index + 1}:${column}`,
        `${basename(originalPosition.fileName)}:${originalPosition.lineNumber}`,
      ] as const;
    }),
  );
  return Object.fromEntries(callers);
}
