/**
 * Fails the import of the library on a version of Node.js that is too old, before any feature is used that the version
 * lacks.
 */
const REQUIRED_MAJOR = 24;

/** Returns the reason why a version of Node.js such as `20.11.0` cannot run the library, or undefined if it can. */
export function unsupportedVersionProblem(version: string): string | undefined {
  if (Number.parseInt(version, 10) >= REQUIRED_MAJOR) return undefined;
  return `statelet needs Node.js ${REQUIRED_MAJOR}, but this is Node.js ${version}`;
}

const problem = unsupportedVersionProblem(process.versions.node);
if (problem !== undefined) throw new Error(problem);
