#!/usr/bin/env node
import { runCommandLine } from './cli/command-line.js';

process.exitCode = await runCommandLine(process.argv);
// The work is done; a forgotten connection must not keep the process alive.
setTimeout(() => process.exit(), 2_000).unref();
