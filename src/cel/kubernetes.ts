import type { Library } from './functions.js';
import { authorization } from './library/authorizer.js';
import { cidr } from './library/cidr.js';
import { ip } from './library/ip.js';
import { lists } from './library/lists.js';
import { mapInsert } from './library/map-insert.js';
import { namedFormats } from './library/named-formats.js';
import { optionals } from './library/optionals.js';
import { quantities } from './library/quantities.js';
import { regex } from './library/regex.js';
import { semver } from './library/semver.js';
import { sets } from './library/sets.js';
import { standard } from './library/standard.js';
import { strings } from './library/strings.js';
import { urls } from './library/urls.js';

/** All libraries of expressions in Kubernetes 1.36 (`k8s.io/apiserver/pkg/cel/environment`). */
export const kubernetesLibraries: readonly Library[] = [
  standard,
  optionals,
  mapInsert,
  strings,
  regex,
  urls,
  lists,
  sets,
  quantities,
  ip,
  cidr,
  namedFormats,
  semver,
  authorization,
];
