/**
 * Creates the context in which jest evaluates a test file and everything that it imports. In the context that jest
 * creates, each use of a global name such as `Map` or `Error` goes through a proxy. In this one, globals are plain
 * properties, as in any other program.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { constants, createContext } from 'node:vm';
import type nodeEnvironment from 'jest-environment-node';

// Use `require`, because the types describe the CommonJS module. An import would load another module, without them.
const { TestEnvironment }: typeof nodeEnvironment = createRequire(import.meta.url)('jest-environment-node');

/** Classes for binary data, which the context shares with the modules of Node.js. */
const NODE_CLASSES = new Set<PropertyKey>(['Buffer', 'ArrayBuffer', 'Uint8Array']);

/** Copies a property to the target. A property with a getter is read at its first use. */
function copyProperty(target: object, source: object, key: PropertyKey): void {
  const { get, set: _, ...descriptor } = Object.getOwnPropertyDescriptor(source, key) ?? {};
  if (get === undefined) {
    Object.defineProperty(target, key, descriptor);
    return;
  }
  const become = (value: unknown) => Object.defineProperty(target, key, { ...descriptor, value, writable: true });
  const first = (): unknown => {
    become(Reflect.get(source, key));
    return Reflect.get(target, key);
  };
  Object.defineProperty(target, key, { ...descriptor, get: first, set: become });
}

/** Creates another object of the same class. This package has no other access to the package of the class. */
const recreate = <T>(original: T, argument: unknown): T => Reflect.construct(Object(original).constructor, [argument]);

const hostPath = process.env.PATH;

/**
 * Selects the container runtime of the projects in jest.config.mjs for a suite and the processes that it starts:
 * `programs`, if any, precede those of the host.
 */
function selectRuntime({ runtime, programs }: Readonly<Record<string, unknown>>): void {
  if (typeof programs === 'string' && !existsSync(join(programs, 'containerd')))
    throw new Error(`${programs}/containerd is missing; npm test downloads it`);
  process.env.PATH = [programs, hostPath].filter((path) => path !== undefined).join(':');
  process.env.STATELET_TEST_RUNTIME = String(runtime ?? '');
}

export default class TestContext extends TestEnvironment {
  constructor(...parameters: ConstructorParameters<typeof TestEnvironment>) {
    selectRuntime(parameters[0].projectConfig.testEnvironmentOptions);
    super(...parameters);
    const jestGlobal = this.global;
    // A context created with this constant is its own global object.
    const plain = createContext(constants.DONT_CONTEXTIFY) as typeof jestGlobal;
    const own = new Set(Reflect.ownKeys(plain));
    for (const key of Reflect.ownKeys(jestGlobal)) {
      if (NODE_CLASSES.has(key) || !own.has(key)) copyProperty(plain, jestGlobal, key);
    }
    plain.global = plain;
    plain.Error.stackTraceLimit = jestGlobal.Error.stackTraceLimit;
    this.context = plain;
    this.global = plain;
    const [{ projectConfig: config }] = parameters;
    this.fakeTimersModern = recreate(this.fakeTimersModern, { config, global: plain });
    this.moduleMocker = recreate(this.moduleMocker, plain);
  }
}
