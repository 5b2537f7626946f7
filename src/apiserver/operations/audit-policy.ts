import { quote } from '../../api/go-text.js';
import { dnsSubdomain } from '../../api/names.js';
import type { UserInfo } from '../../api/user.js';
import { invalid, notSupported, required, type Violation } from '../../api/violations.js';
import type { RequestInfo } from '../request.js';

/** What an audit policy (`audit.k8s.io/v1`, kind Policy) asks to be recorded. */

export const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type Level = (typeof levels)[number];
export const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type Stage = (typeof stages)[number];

export interface AuditPolicy {
  /** The first that matches decides; if none does, nothing is recorded. */
  readonly rules: readonly AuditRule[];
}

export interface AuditRule extends AuditRequirement {
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** What of a request is to be recorded. */
export interface AuditRequirement {
  readonly level: Level;
  readonly omitStages: ReadonlySet<Stage>;
  readonly omitManagedFields: boolean;
}

interface GroupResources {
  readonly group: string;
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/** A policy is wrong; the message names every place. */
class AuditPolicyError extends Error {
  override readonly name = 'AuditPolicyError';
}

/** Is `level` at least `wanted`? */
export const reaches = (level: Level, wanted: Level): boolean => levels.indexOf(level) >= levels.indexOf(wanted);

/** What the policy asks of a request by a user (absent: nobody knows who it is); undefined: nothing. */
export function requirementOf(
  { rules }: AuditPolicy,
  info: RequestInfo,
  user: UserInfo | undefined,
): AuditRequirement | undefined {
  const rule = rules.find((one) => matches(one, info, user));
  return rule === undefined || rule.level === 'None' ? undefined : rule;
}

const anyOf = (wanted: readonly string[], value: string | undefined): boolean =>
  wanted.length === 0 || (value !== undefined && wanted.includes(value));

function matches(rule: AuditRule, info: RequestInfo, user: UserInfo | undefined): boolean {
  if (!anyOf(rule.users, user?.username) || !anyOf(rule.verbs, info.verb)) return false;
  if (rule.userGroups.length > 0 && !user?.groups.some((group) => rule.userGroups.includes(group))) return false;
  if (rule.namespaces.length > 0 || rule.resources.length > 0) return info.isResource && matchesResource(rule, info);
  if (rule.nonResourceURLs.length === 0) return true;
  return !info.isResource && rule.nonResourceURLs.some((pattern) => matchesPath(pattern, info.path));
}

const matchesPath = (pattern: string, path: string): boolean =>
  pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)));

function matchesResource({ namespaces, resources }: AuditRule, info: RequestInfo): boolean {
  if (!anyOf(namespaces, info.namespace)) return false;
  if (resources.length === 0) return true;
  const { resource, subresource } = info;
  const patterns = [
    '*',
    subresource === '' ? resource : `${resource}/${subresource}`,
    `${resource}/*`,
    ...(subresource === '' ? [] : [`*/${subresource}`]),
  ];
  return resources
    .filter(({ group }) => group === '*' || group === info.group)
    .some(
      (one) =>
        one.resources.length === 0 ||
        (anyOf(one.resourceNames, info.name) && one.resources.some((pattern) => patterns.includes(pattern))),
    );
}

/** Reads a policy from what a YAML or JSON file says. Throws AuditPolicyError. */
export function readAuditPolicy(given: unknown): AuditPolicy {
  const found: Violation[] = [];
  const policy = new Reader(given, '', found);
  const kind = `${policy.text('apiVersion')}, Kind=${policy.text('kind')}`;
  if (kind !== 'audit.k8s.io/v1, Kind=Policy') {
    throw new AuditPolicyError(`the policy must be of audit.k8s.io/v1, kind Policy, and not of ${quote(kind)}`);
  }
  policy.only(['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields']);
  const omitStages = policy.oneOfEach('omitStages', stages);
  const omitManagedFields = policy.flag('omitManagedFields') ?? false;
  const rules = policy.objects('rules').map((rule) => readRule(rule, { omitStages, omitManagedFields }));
  if (found.length > 0) {
    throw new AuditPolicyError(found.map(({ field, body }) => `${field}: ${body}`).join('; '));
  }
  if (rules.length === 0) throw new AuditPolicyError('the policy has no rules');
  return { rules };
}

function readRule(
  rule: Reader,
  general: { readonly omitStages: readonly Stage[]; readonly omitManagedFields: boolean },
): AuditRule {
  rule.only([
    'level',
    'users',
    'userGroups',
    'verbs',
    'resources',
    'namespaces',
    'nonResourceURLs',
    'omitStages',
    'omitManagedFields',
  ]);
  const resources = rule.objects('resources').map((one) => {
    one.only(['group', 'resources', 'resourceNames']);
    const read = {
      group: one.text('group'),
      resources: one.texts('resources'),
      resourceNames: one.texts('resourceNames'),
    };
    const [wrong] = read.group === '' || read.group === '*' ? [] : dnsSubdomain(read.group);
    if (wrong !== undefined) one.complain(invalid(one.at('group'), read.group, wrong));
    if (read.resourceNames.length > 0 && read.resources.length === 0) {
      const field = one.at('resourceNames');
      one.complain(invalid(field, read.resourceNames, 'using resourceNames requires at least one resource'));
    }
    return read;
  });
  const namespaces = rule.texts('namespaces');
  const nonResourceURLs = rule.texts('nonResourceURLs');
  for (const [position, url] of nonResourceURLs.entries()) {
    const field = `${rule.at('nonResourceURLs')}[${position}]`;
    if (url !== '*' && !url.startsWith('/')) {
      rule.complain(invalid(field, url, "non-resource URL rules must begin with a '/' character"));
    }
    if (url.slice(0, -1).includes('*')) {
      rule.complain(invalid(field, url, "non-resource URL wildcards '*' must be the final character of the rule"));
    }
  }
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    const why = 'rules cannot apply to both regular resources and non-resource URLs';
    rule.complain(invalid(rule.at('nonResourceURLs'), nonResourceURLs, why));
  }
  const level = rule.text('level');
  const known = levels.find((one) => one === level);
  if (known === undefined) {
    rule.complain(level === '' ? required(rule.at('level'), '') : notSupported(rule.at('level'), level, levels));
  }
  return {
    level: known ?? 'None',
    users: rule.texts('users'),
    userGroups: rule.texts('userGroups'),
    verbs: rule.texts('verbs'),
    resources,
    namespaces,
    nonResourceURLs,
    omitStages: new Set([...general.omitStages, ...rule.oneOfEach('omitStages', stages)]),
    omitManagedFields: rule.flag('omitManagedFields') ?? general.omitManagedFields,
  };
}

/** Reads the members of an object and notes what is wrong with them. */
class Reader {
  readonly #members: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #found: Violation[];

  constructor(given: unknown, path: string, found: Violation[]) {
    const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
    if (!isObject) found.push(invalid(path || 'policy', String(given), 'must be an object'));
    this.#members = isObject ? (given as Readonly<Record<string, unknown>>) : {};
    this.#path = path;
    this.#found = found;
  }

  at(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  complain(violation: Violation): void {
    this.#found.push(violation);
  }

  #get(name: string): unknown {
    return (Object.hasOwn(this.#members, name) ? this.#members[name] : undefined) ?? undefined;
  }

  only(known: readonly string[]): void {
    for (const name of Object.keys(this.#members)) {
      if (!known.includes(name)) this.complain(invalid(this.at(name), name, 'there is no such field'));
    }
  }

  text(name: string): string {
    const value = this.#get(name) ?? '';
    if (typeof value === 'string') return value;
    this.complain(invalid(this.at(name), String(value), 'must be a string'));
    return '';
  }

  flag(name: string): boolean | undefined {
    const value = this.#get(name);
    if (value === undefined || typeof value === 'boolean') return value;
    this.complain(invalid(this.at(name), String(value), 'must be a boolean'));
    return undefined;
  }

  texts(name: string): readonly string[] {
    return this.#list(name).filter((value, position) => {
      if (typeof value === 'string') return true;
      this.complain(invalid(`${this.at(name)}[${position}]`, String(value), 'must be a string'));
      return false;
    }) as readonly string[];
  }

  oneOfEach<T extends string>(name: string, allowed: readonly T[]): readonly T[] {
    return this.texts(name).flatMap((text, position) => {
      const known = allowed.find((one) => one === text);
      if (known !== undefined) return [known];
      this.complain(invalid(`${this.at(name)}[${position}]`, text, `allowed stages are ${allowed.join(',')}`));
      return [];
    });
  }

  objects(name: string): readonly Reader[] {
    return this.#list(name).map((value, position) => new Reader(value, `${this.at(name)}[${position}]`, this.#found));
  }

  #list(name: string): readonly unknown[] {
    const value = this.#get(name) ?? [];
    if (Array.isArray(value)) return value;
    this.complain(invalid(this.at(name), String(value), 'must be a list'));
    return [];
  }
}
