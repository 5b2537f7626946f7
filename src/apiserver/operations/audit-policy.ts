import { dnsSubdomain } from '../../api/names.js';
import type { UserInfo } from '../../api/user.js';
import { invalid, notSupported, required, type Violation } from '../../api/violations.js';
import { readYaml } from '../../api/yaml.js';
import { boolean, field, list, optional, string, struct } from '../../schema/builder.js';
import { checkConfiguration, decodeConfiguration } from '../../schema/configuration-file.js';
import { objectMeta } from '../../schema/meta.js';
import type { RequestInfo } from '../request.js';

/** Reads audit policies (`audit.k8s.io/v1`, kind Policy) and matches requests against them. */

const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type Level = (typeof levels)[number];
const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type Stage = (typeof stages)[number];

export interface AuditPolicy {
  /** The first matching rule decides; without one nothing is recorded. */
  readonly rules: readonly AuditRule[];
}

interface AuditRule extends AuditRequirement {
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** What is recorded of a request. */
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

/** Whether `level` is at least `minimum`. */
export const reaches = (level: Level, minimum: Level): boolean => levels.indexOf(level) >= levels.indexOf(minimum);

/**
 * Returns what the policy requires for a request; undefined if nothing is recorded. `user` is undefined if the caller
 * was not authenticated.
 */
export function requirementOf(
  { rules }: AuditPolicy,
  info: RequestInfo,
  user: UserInfo | undefined,
): AuditRequirement | undefined {
  const rule = rules.find((one) => matches(one, info, user));
  return rule === undefined || rule.level === 'None' ? undefined : rule;
}

const anyOf = (allowed: readonly string[], value: string | undefined): boolean =>
  allowed.length === 0 || (value !== undefined && allowed.includes(value));

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

const texts = list(string());
const stageNames = list(string({ go: 'v1.Stage' }));

const schema = struct('v1.Policy', {
  apiVersion: field(1, string()),
  kind: field(2, string()),
  metadata: field(3, objectMeta),
  rules: field(
    4,
    list(
      struct('v1.PolicyRule', {
        level: field(1, string({ go: 'v1.Level' })),
        users: field(2, texts),
        userGroups: field(3, texts),
        verbs: field(4, texts),
        resources: field(
          5,
          list(
            struct('v1.GroupResources', {
              group: field(1, string()),
              resources: field(2, texts),
              resourceNames: field(3, texts),
            }),
          ),
        ),
        namespaces: field(6, texts),
        nonResourceURLs: field(7, texts),
        omitStages: field(8, stageNames),
        omitManagedFields: optional(9, boolean()),
      }),
    ),
  ),
  omitStages: field(5, stageNames),
  omitManagedFields: field(6, boolean()),
});

/** The policy as decoded, before validation. */
interface DecodedPolicy {
  readonly rules?: readonly DecodedRule[];
  readonly omitStages?: readonly string[];
  readonly omitManagedFields?: boolean;
}
type DecodedRule = Partial<Omit<AuditRule, 'level' | 'resources' | 'omitStages'>> & {
  readonly level?: string;
  readonly resources?: readonly Partial<GroupResources>[];
  readonly omitStages?: readonly string[];
};

/**
 * Parses a policy in YAML or JSON. Unknown and repeated fields are rejected, and so is text after the first document.
 *
 * @throws Error with all problems
 */
export async function readAuditPolicy(text: string): Promise<AuditPolicy> {
  const read = await readYaml(text);
  const behind = read.lineBehind();
  if (behind !== undefined) throw new Error(`must be one document: line ${behind} has more behind its end`);
  const policy: DecodedPolicy = decodeConfiguration(schema, read, { kind: 'Policy', versions: ['audit.k8s.io/v1'] });
  const { rules = [], omitStages = [], omitManagedFields = false } = policy;
  checkConfiguration([
    ...stageViolations('omitStages', omitStages),
    ...rules.flatMap((rule, at) => ruleViolations(`rules[${at}]`, rule)),
  ]);
  if (rules.length === 0) throw new Error('loaded illegal policy with 0 rules');
  return { rules: rules.map((rule) => complete(rule, { omitStages, omitManagedFields })) };
}

/** Returns a valid rule with the settings of the whole policy applied. */
const complete = (
  rule: DecodedRule,
  general: Required<Pick<DecodedPolicy, 'omitStages' | 'omitManagedFields'>>,
): AuditRule => ({
  level: rule.level as Level,
  users: rule.users ?? [],
  userGroups: rule.userGroups ?? [],
  verbs: rule.verbs ?? [],
  resources: (rule.resources ?? []).map((one) => ({ group: '', resources: [], resourceNames: [], ...one })),
  namespaces: rule.namespaces ?? [],
  nonResourceURLs: rule.nonResourceURLs ?? [],
  omitStages: new Set([...general.omitStages, ...(rule.omitStages ?? [])] as Stage[]),
  omitManagedFields: rule.omitManagedFields ?? general.omitManagedFields,
});

function ruleViolations(path: string, rule: DecodedRule): readonly Violation[] {
  const { level = '', resources = [], namespaces = [], nonResourceURLs: urls = [], omitStages = [] } = rule;
  const urlsAt = `${path}.nonResourceURLs`;
  return [
    ...levelViolations(`${path}.level`, level),
    ...urls.flatMap((url, at) => urlViolations(`${urlsAt}[${at}]`, url)),
    ...resources.flatMap((one, at) => resourceViolations(`${path}.resources[${at}]`, one)),
    ...stageViolations(`${path}.omitStages`, omitStages),
    ...(urls.length > 0 && (resources.length > 0 || namespaces.length > 0)
      ? [invalid(urlsAt, urls, 'rules cannot apply to both regular resources and non-resource URLs')]
      : []),
  ];
}

function levelViolations(path: string, level: string): readonly Violation[] {
  if (level === '') return [required(path, '')];
  return levels.some((known) => known === level) ? [] : [notSupported(path, level, levels)];
}

const urlViolations = (path: string, url: string): readonly Violation[] => [
  ...(url !== '*' && !url.startsWith('/')
    ? [invalid(path, url, "non-resource URL rules must begin with a '/' character")]
    : []),
  ...(url.slice(0, -1).includes('*')
    ? [invalid(path, url, "non-resource URL wildcards '*' must be the final character of the rule")]
    : []),
];

function resourceViolations(path: string, entry: Partial<GroupResources>): readonly Violation[] {
  const { group = '', resources = [], resourceNames = [] } = entry;
  const wrong = group === '' || group === '*' ? [] : dnsSubdomain(group).slice(0, 1);
  return [
    ...wrong.map((message) => invalid(`${path}.group`, group, message)),
    ...(resourceNames.length > 0 && resources.length === 0
      ? [invalid(`${path}.resourceNames`, resourceNames, 'using resourceNames requires at least one resource')]
      : []),
  ];
}

const stageViolations = (path: string, names: readonly string[]): readonly Violation[] =>
  names.flatMap((stage, at) =>
    stages.some((known) => known === stage)
      ? []
      : [invalid(`${path}[${at}]`, stage, `allowed stages are ${stages.join(',')}`)],
  );
