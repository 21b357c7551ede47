/** Defines a setting of the node: a field of a KubeletConfiguration, a flag of `run` and `up`, or both. */
import type * as z from 'zod/mini';

export interface SettingDefinition {
  /** Schema of the field, or of the flag if there is no field. Durations are parsed into milliseconds. */
  readonly type: z.ZodMiniType;
  /**
   * The default, as it would be written in a configuration file. Undefined if there is none or if it depends on the
   * host or on other settings.
   */
  readonly default?: unknown;
  /** The default of a node without `--kubeconfig`, if it differs from `default`. */
  readonly standaloneDefault?: unknown;
  /** Another field that provides the default of this setting if the configuration file sets it. */
  readonly defaultFrom?: string;
  /** The effect of the field, for docs/reference.md. `{default}` and `{standalone}` are replaced with the defaults. */
  readonly effect?: string;
  /**
   * The reason why the field has no effect. A warning at startup lists all such fields that the configuration file
   * sets.
   */
  readonly ignoredReason?: string;
  readonly flag?: FlagDefinition;
  /**
   * Name of the kubelet's flag for the field, if this node does not have that flag. docs/reference.md lists these
   * flags.
   */
  readonly unsupportedFlag?: string;
  /**
   * Whether 0, false and the empty string are valid values, as for a Go field that is a pointer or has no `omitempty`.
   * In any other field, these values stand for the default, and /configz omits them.
   */
  readonly allowsZeroValue?: true;
  /** Whether /configz omits the default value, as the kubelet does if Go's field stays nil. */
  readonly hidesDefault?: true;
  /** Whether a relative path in the configuration file is resolved against the directory of that file. */
  readonly isPath?: true;
  /** Whether the value may contain a password or a token. */
  readonly isSecret?: true;
  /** Whether a configuration file must contain the field. */
  readonly isRequired?: true;
}

export interface FlagDefinition {
  /** The flag's name, e.g. `--max-pods`. A setting without a field is named after its flag instead. */
  readonly name?: string;
  /** The short form, e.g. `-v`. */
  readonly short?: string;
  /**
   * The value as shown in the help: `<number>`, or `[boolean]` for a flag that defaults to true. Undefined for a flag
   * without a value.
   */
  readonly argument?: string;
  /** The description in the help, with the same placeholders as `effect`. */
  readonly help: string;
  /** The replacement for `{default}` in the help of `up`, which has its own directories and its own runtime. */
  readonly upDefault?: string;
  /** Schema of the value on the command line, if its format differs from that in a configuration file. */
  readonly type?: z.ZodMiniType;
  /** The only command that has the flag. Undefined if both `run` and `up` have it. */
  readonly command?: 'run' | 'up';
  /** Whether an empty value is treated as unset. Other flags override the configuration file even if they are empty. */
  readonly emptyIsUnset?: true;
  /** Whether repeated values are joined with commas. */
  readonly repeats?: true;
}

/** A field whose value is a map of fields. */
export interface SettingGroup {
  readonly fields: Settings;
  readonly effect?: string;
  readonly ignoredReason?: string;
  /** Whether /configz omits the group if the configuration file does not set it. */
  readonly hidesDefault?: true;
}

/** Settings by the names of their fields, or of their flags if they have no field. */
export interface Settings {
  readonly [name: string]: SettingDefinition | SettingGroup;
}

/** Declares settings and preserves the name and type of each one. */
export const declareSettings = <const S extends Settings>(settings: S): S => settings;

export const isGroup = (entry: SettingDefinition | SettingGroup): entry is SettingGroup => 'fields' in entry;

/** Whether a setting is a field of a KubeletConfiguration, inferred from its name. */
export const isField = (name: string): boolean => !name.startsWith('--');

type FieldName<K> = K extends `--${string}` ? never : K;

type SchemaOf<E> = E extends { readonly fields: infer F }
  ? z.ZodMiniObject<ShapeOf<F>, z.core.$strict>
  : E extends { readonly type: infer T extends z.ZodMiniType }
    ? T
    : never;

/** Shape of a configuration file's schema with these settings. */
export type ShapeOf<S> = {
  [K in keyof S as FieldName<K>]: S[K] extends { readonly isRequired: true }
    ? SchemaOf<S[K]>
    : z.ZodMiniOptional<SchemaOf<S[K]>>;
};

/** The parsed fields of a configuration file with these settings. */
export type FieldsOf<S> = z.output<z.ZodMiniObject<ShapeOf<S>, z.core.$strict>>;

type FlagName<K, E> = E extends { readonly flag: infer F }
  ? F extends { readonly name: infer N }
    ? N & string
    : K
  : never;

type FlagValue<E> = E extends { readonly flag: { readonly type: infer T extends z.ZodMiniType } }
  ? z.output<T>
  : E extends { readonly type: infer T extends z.ZodMiniType }
    ? z.output<T>
    : never;

type UnionToIntersection<U> = (U extends unknown ? (each: U) => void : never) extends (intersection: infer I) => void
  ? I
  : never;

type GroupFlags<S> = UnionToIntersection<
  { [K in keyof S]: S[K] extends { readonly fields: infer F } ? FlagsOf<F> : unknown }[keyof S]
>;

/** The parsed flags of these settings, by name. */
export type FlagsOf<S> = { [K in keyof S as FlagName<K, S[K]>]?: FlagValue<S[K]> | undefined } & GroupFlags<S>;

type FieldValue<E> = E extends { readonly type: infer T extends z.ZodMiniType } ? z.output<T> : never;

type ValueOf<E> = E extends { readonly fields: infer F }
  ? ValuesOf<F>
  : E extends { readonly default: unknown }
    ? E extends { readonly allowsZeroValue: true }
      ? FieldValue<E> | FlaggedValue<E>
      : Exclude<FieldValue<E> | FlaggedValue<E>, ''>
    : FieldValue<E> | FlaggedValue<E> | undefined;

type FlaggedValue<E> = E extends { readonly flag: unknown } ? FlagValue<E> : never;

/**
 * The effective values. Flags take precedence over the configuration file, and the file takes precedence over the
 * defaults.
 */
export type ValuesOf<S> = { readonly [K in keyof S]: ValueOf<S[K]> };
