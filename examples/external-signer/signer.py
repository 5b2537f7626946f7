#!/usr/bin/env python3
"""A signer in a separate program: issues client certificates from a CA in two files, with openssl.

Kedge starts it and exchanges lines of JSON with it (docs/signers.md): requests arrive on standard input, and responses
are written to standard output, in any order. Needs only Python 3.8 and openssl.

    signer.py CA.crt CA.key
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

LONGEST = 24 * 3600
CONFIGURATION = """
[ca]
default_ca = this
[this]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = default
policy = subject
unique_subject = no
copy_extensions = none
x509_extensions = client
[subject]
organizationName = optional
commonName = supplied
[client]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = clientAuth
authorityKeyIdentifier = keyid
"""


def sign(asked):
    """Returns the response to one request."""
    if sorted(asked["usages"]) != ["client auth", "digital signature"]:
        return {"refused": "only client certificates are issued here", "reason": "UsageNotAllowed"}
    seconds = min(asked.get("expirationSeconds", LONGEST), LONGEST)
    now = datetime.now(timezone.utc)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"ca.cnf": CONFIGURATION, "index.txt": "", "request.pem": asked["request"]}.items():
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        command = ["openssl", "ca", "-batch", "-notext", "-config", "ca.cnf", "-in", "request.pem"]
        command += ["-cert", CERTIFICATE, "-keyfile", KEY, "-out", "issued.pem"]
        command += ["-startdate", when(now - timedelta(minutes=5)), "-enddate", when(now + timedelta(seconds=seconds))]
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=15)
        if done.returncode != 0:
            return {"error": done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "openssl failed"}
        with open(os.path.join(folder, "issued.pem")) as file:
            return {"issued": file.read()}


def when(time):
    return time.strftime("%Y%m%d%H%M%SZ")


def anchors(_):
    with open(CERTIFICATE) as file:
        return {"anchors": file.read()}


def answer(message):
    try:
        body = sign(message["sign"]) if "sign" in message else anchors(message["anchors"])
    except Exception as trouble:  # any failure is reported to Kedge, which retries
        body = {"error": f"{type(trouble).__name__}: {trouble}"}
    with OUTPUT:
        print(json.dumps({"id": message["id"], **body}), flush=True)


CERTIFICATE, KEY = (os.path.abspath(path) for path in sys.argv[1:3])
OUTPUT = threading.Lock()

with ThreadPoolExecutor(max_workers=4) as workers:
    for line in sys.stdin:
        message = json.loads(line)
        if "cancel" not in message:  # cancelled requests are finished, and their responses ignored
            workers.submit(answer, message)
