/** Rules for names, labels and qualified names. Each returns Kubernetes' errors; an empty list if the text is valid. */

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const patterns = {
  label: /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/,
  label1035: /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/,
  qualified: /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/,
  configKey: /^[-._a-zA-Z0-9]+$/,
  conditionReason: /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/,
};

/** Returns the sentence that every pattern rule ends with. */
const rule = (sentence: string, pattern: string, ...examples: readonly string[]): string =>
  `${sentence} (e.g. ${examples.map((example) => `'${example}'`).join(',  or ')}, regex used for validation is '${pattern}')`;

const texts = {
  label: rule(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    label,
    'my-name',
    '123-abc',
  ),
  label1035: rule(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    '[a-z]([-a-z0-9]*[a-z0-9])?',
    'my-name',
    'abc-123',
  ),
  subdomain: rule(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    subdomain,
    'example.com',
  ),
  qualifiedPart: rule(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    qualified,
    'MyName',
    'my.name',
    '123-abc',
  ),
  labelValue: rule(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    `(${qualified})?`,
    'MyValue',
    'my_value',
    '12345',
  ),
  configKey: rule(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    '[-._a-zA-Z0-9]+',
    'key.name',
    'KEY_NAME',
    'key-name',
  ),
  conditionReason: rule(
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
    '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?',
    'my_name',
    'MY_NAME',
    'MyName',
    'ReasonA,ReasonB',
    'ReasonA:ReasonB',
  ),
} as const;

const maxCharacters = (count: number): string => `must be no more than ${count} characters`;
const maxBytes = (count: number): string => `must be no more than ${count} bytes`;
const byteLength = (text: string): number => Buffer.byteLength(text);
const isSubdomain = (text: string): boolean => text.split('.').every((part) => patterns.label.test(part));

/** Checks an RFC 1123 label, at most 63 bytes. */
export const dnsLabel = (text: string): readonly string[] => [
  ...(byteLength(text) > 63 ? [maxCharacters(63)] : []),
  ...(patterns.label.test(text)
    ? []
    : [isSubdomain(text) && text.includes('.') ? 'must not contain dots' : texts.label]),
];

/** Checks an RFC 1035 label: it starts with a letter, and has at most 63 bytes. */
export const dns1035Label = (text: string): readonly string[] => [
  ...(byteLength(text) > 63 ? [maxCharacters(63)] : []),
  ...(patterns.label1035.test(text) ? [] : [texts.label1035]),
];

/** Checks an RFC 1123 subdomain, at most 253 bytes. */
export const dnsSubdomain = (text: string): readonly string[] => [
  ...(byteLength(text) > 253 ? [maxCharacters(253)] : []),
  ...(isSubdomain(text) ? [] : [texts.subdomain]),
];

/** Checks a text that can be one segment of a URL path. */
export const pathSegment = (
  text: string,
  { prefix }: { readonly prefix: boolean } = { prefix: false },
): readonly string[] => [
  ...(!prefix && text === '.' ? ["may not be '.'"] : []),
  ...(!prefix && text === '..' ? ["may not be '..'"] : []),
  ...(text.includes('/') ? ["may not contain '/'"] : []),
  ...(text.includes('%') ? ["may not contain '%'"] : []),
];

/** A fast path: most names and values are short, and a request may contain thousands of them. */
const isShortQualified = (text: string): boolean => text.length <= 63 && patterns.qualified.test(text);
const noErrors: readonly string[] = [];

/** Checks a qualified name, `[prefix/]name`: label keys, finalizers, and annotation keys. */
export function qualifiedName(text: string): readonly string[] {
  if (isShortQualified(text)) return noErrors;
  const parts = text.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${qualified}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  const wrong: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0] ?? '';
    if (prefix === '') wrong.push('prefix part must be non-empty');
    else if (byteLength(prefix) > 253) wrong.push(`prefix part ${maxBytes(253)}`);
    if (prefix !== '' && !isSubdomain(prefix)) wrong.push(`prefix part ${texts.subdomain}`);
  }
  if (name === '') wrong.push('name part must be non-empty');
  else if (byteLength(name) > 63) wrong.push(`name part ${maxBytes(63)}`);
  if (!patterns.qualified.test(name)) wrong.push(`name part ${texts.qualifiedPart}`);
  return wrong;
}

/** Checks the value of a label, at most 63 bytes. */
export const labelValue = (text: string): readonly string[] =>
  text === '' || isShortQualified(text)
    ? noErrors
    : [...(byteLength(text) > 63 ? [maxBytes(63)] : []), ...(patterns.qualified.test(text) ? [] : [texts.labelValue])];

/** Checks the reason of a condition (metav1.Condition), except for its length. */
export const conditionReason = (text: string): readonly string[] =>
  patterns.conditionReason.test(text) ? [] : [texts.conditionReason];

/** Checks the key of an entry of a ConfigMap or Secret. */
export function configKey(text: string): readonly string[] {
  if (ordinaryKey.test(text)) return [];
  return [
    ...(byteLength(text) > 253 ? [maxCharacters(253)] : []),
    ...(patterns.configKey.test(text) ? [] : [texts.configKey]),
    ...(text === '.'
      ? ["must not be '.'"]
      : text === '..'
        ? ["must not be '..'"]
        : text.startsWith('..')
          ? ["must not start with '..'"]
          : []),
  ];
}
const ordinaryKey = /^[-_a-zA-Z0-9][-._a-zA-Z0-9]{0,252}$/;

/**
 * Applies a name rule to `generateName`: a trailing `-` will be followed by more, so it counts as a letter. As in
 * Kubernetes, the character before it is not checked, and `-` alone is no prefix.
 */
const asPrefix =
  (check: (text: string) => readonly string[]) =>
  (text: string, { prefix }: { readonly prefix: boolean }): readonly string[] =>
    check(prefix && text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text);

/** The name rules that a definition can refer to. */
export const nameRules = {
  dnsLabel: asPrefix(dnsLabel),
  dnsSubdomain: asPrefix(dnsSubdomain),
  dns1035Label: asPrefix(dns1035Label),
  /** Also applies to prefixes: `.` is invalid whatever follows. */
  pathSegment: (text: string) => pathSegment(text),
  /** A subdomain with the texts of Kubernetes' newer rules, which do not check prefixes. */
  longName: (text: string, { prefix }: { readonly prefix: boolean }): readonly string[] =>
    prefix ? [] : dnsSubdomain(text).map((wrong) => (wrong === maxCharacters(253) ? maxBytes(253) : wrong)),
  /** Any path segment of a URL, which is checked for every name that breaks no other rule. */
  any: (): readonly string[] => [],
} as const;

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const randomLength = 5;
/** The maximum length that is kept of a generateName: 63 less the random part. */
const prefixLength = 63 - randomLength;

/** Returns `prefix` (cut to 58) and five random characters without vowels. `random` returns numbers in [0, 1). */
export const generatedName = (prefix: string, random: () => number = Math.random): string => {
  let suffix = '';
  for (let i = 0; i < randomLength; i++) suffix += alphabet[Math.floor(random() * alphabet.length)];
  return prefix.slice(0, prefixLength) + suffix;
};
